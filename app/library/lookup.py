"""From --model and --draft to files, wherever they are: our own folder first, then those of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.library.catalog import Catalog, Pair, Role
from app.library.resolve import ModelNotFoundError, resolve
from app.library.user_catalog import load_catalog


@dataclass(frozen=True, slots=True)
class PairFiles:
    """What is to be loaded, and what there is to say about it."""

    target: Path
    draft: Path | None = None
    context: int | None = None
    """Tokens of context that the catalogue starts this pair with."""
    notes: tuple[str, ...] = ()


def find_pair_files(model: str | None, draft: str | None) -> PairFiles:
    """The files that ``--model`` and ``--draft`` name; a pair of the catalogue brings its own draft along. Without
    ``model``: the starter. :class:`ModelNotFoundError` says what to do."""
    known = load_catalog(paths.catalog_file()).catalog
    pair = known.starter if model is None else known.find(model) if "/" not in model else None
    target = _find(known.starter.name if model is None else model, known, "target")
    named = _find(draft, known, "target") if draft is not None else None
    if named is not None or pair is None:
        return PairFiles(target, named)
    own, note = _own_draft(pair, known)
    return PairFiles(target, own, pair.context if model is not None else None, (note,) if note else ())


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
        found = None if _is_plainly_a_path(wanted) else _read_in_place(wanted, role)
        if found is None:
            raise
        if isinstance(found, str):
            raise ModelNotFoundError(found) from error
        return found


def _is_plainly_a_path(wanted: str) -> bool:
    return wanted.startswith((".", "/", "~", "\\")) or Path(wanted).exists()


def _read_in_place(wanted: str, role: Role) -> Path | str | None:
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
    return found[0].path if found else None
