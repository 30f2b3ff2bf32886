"""From --model and --draft to files, wherever they are: our own folder first, then those of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.clean import clean_line
from app.library.catalog import Catalog, Pair, Role
from app.library.resolve import CannotUseError, ModelNotFoundError, UnknownNameError, resolve, unknown_words
from app.library.user_catalog import load_catalog


@dataclass(frozen=True, slots=True)
class PairFiles:
    """What is to be loaded, and what there is to say about it."""

    target: Path
    draft: Path | None = None
    context: int | None = None
    """Tokens of context that the catalogue starts this pair with."""
    notes: tuple[str, ...] = ()


def find_pair_files(model: str | None, draft: str | None, *, draft_must_be_there: bool = True) -> PairFiles:
    """The files that ``--model`` and ``--draft`` name; a pair of the catalogue brings its own draft along. Without
    ``model``: the starter. :class:`ModelNotFoundError` says what to do; of a draft that need not be there, a note
    does."""
    known = load_catalog(paths.catalog_file()).catalog
    pair = known.starter if model is None else known.find(model) if "/" not in model else None
    target = _find(known.starter.name if model is None else model, known, "target")
    own, note = None, ""
    try:
        if draft is not None:
            own = _find(draft, known, "target")
        elif pair is not None:
            own, note = _own_draft(pair, known)
    except ModelNotFoundError as error:
        if draft_must_be_there:
            raise
        note = f"The draft {clean_line(draft or '', 200)} is not there; lookup proposes instead."
        if isinstance(error, CannotUseError):
            note = f"{error} Lookup proposes instead."
    context = pair.context if pair is not None and model is not None and draft is None else None
    return PairFiles(target, own, context, (note,) if note else ())


def find_model(wanted: str) -> Path:
    """The file that one name or path means. :class:`ModelNotFoundError` says what to do."""
    return _find(wanted, load_catalog(paths.catalog_file()).catalog, "target")


def _own_draft(pair: Pair, known: Catalog) -> tuple[Path | None, str]:
    if pair.draft == "lookup":
        return None, ""
    try:
        return _find(pair.name, known, "draft"), ""
    except ModelNotFoundError as error:
        return None, f"Until its draft is here, {pair.title} drafts from the text so far: {error}"


def _find(wanted: str, known: Catalog, role: Role) -> Path:
    models_dir = paths.models_dir()
    try:
        return resolve(wanted, models_dir, known, role=role)
    except ModelNotFoundError as error:
        found = (
            None if _is_plainly_a_path(wanted) else _read_in_place(wanted, role, isinstance(error, UnknownNameError))
        )
        if found is None:
            raise
        if isinstance(found, str):
            raise ModelNotFoundError(found) from error
        return found


def _is_plainly_a_path(wanted: str) -> bool:
    return wanted.startswith((".", "/", "~", "\\")) or Path(wanted).exists()


def _read_in_place(wanted: str, role: Role, is_name: bool) -> Path | str | None:
    """A model that another tool keeps: its path, what is wrong with it, or nothing."""
    from app.library.inventory import same_model, take_inventory  # reads headers: only where it is needed

    inventory = take_inventory()
    if (pair := inventory.catalog.find(wanted)) is not None:
        here = next(one for one in inventory.pairs if one.pair.name == pair.name)
        source = here.target if role == "target" or here.draft is None else here.draft
        return source.model.path if source.usable and source.model is not None else None
    found = same_model(inventory, wanted)
    if len(found) > 1:
        return (
            f"{wanted} is {len(found)} models on this disk: {', '.join(str(m.path) for m in found)}; give one's path."
        )
    if found and found[0].why_not is not None:
        return f"{found[0].path.name} cannot be used: {found[0].why_not}."
    if not found and is_name:
        return unknown_words(wanted, [inventory.name(one) for one in inventory.models if one.usable], inventory.catalog)
    return found[0].path if found else None
