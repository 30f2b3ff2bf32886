"""From --model and --draft to files, wherever they are: our own folder first, then those of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.clean import clean_line
from app.library.catalog import Catalog, Pair, Role
from app.library.choice import split_name
from app.library.found import DOWNLOADING
from app.library.partly import all_begun
from app.library.resolve import CannotUseError, ModelNotFoundError, UnknownNameError, resolve, unknown_words
from app.library.user_catalog import load_catalog
from app.library.words import why_words

if TYPE_CHECKING:
    from app.library.local import LocalModel


@dataclass(frozen=True, slots=True)
class PairFiles:
    """What is to be loaded, and what there is to say about it."""

    target: Path
    draft: Path | None = None
    context: int | None = None
    """Tokens of context that the catalogue starts this pair with."""
    notes: tuple[str, ...] = ()
    draft_refused: str | None = None
    """Why the draft that was asked for is left out, in one phrase: every answer's receipt says so."""


def find_pair_files(model: str | None, draft: str | None, *, draft_must_be_there: bool = True) -> PairFiles:
    """The files that ``--model`` and ``--draft`` name; a pair of the catalogue brings its own draft along. Without
    ``model``: the starter. :class:`ModelNotFoundError` says what to do; of a draft that need not be there, a note
    does."""
    known = load_catalog(paths.catalog_file()).catalog
    pair = known.starter if model is None else known.find(model) if "/" not in model else None
    target = _find(known.starter.name if model is None else model, known, "target")
    own, note = None, ""
    refused: str | None = None
    try:
        if draft is not None:
            own = _find(draft, known, "target")
        elif pair is not None:
            own, note, refused = _own_draft(pair, known)
    except ModelNotFoundError as error:
        if draft_must_be_there:
            raise
        note = f"The draft {clean_line(draft or '', 200)} is not there; lookup proposes instead."
        if isinstance(error, CannotUseError):
            note = f"{error} Lookup proposes instead."
        refused = clean_line(_phrase(error), 400)
    context = pair.context if pair is not None and model is not None and draft is None else None
    return PairFiles(target, own, context, (note,) if note else (), refused)


def _phrase(error: ModelNotFoundError) -> str:
    """A refusal without what else could be done, for a place where it is one part of a sentence."""
    first = str(error).partition("; ")[0] if isinstance(error, UnknownNameError) else str(error)
    return (first[:1].lower() + first[1:] if first.startswith(("No ", "Nothing ")) else first).rstrip(".")


def find_model(wanted: str) -> Path:
    """The file that one name or path means. :class:`ModelNotFoundError` says what to do."""
    return _find(wanted, load_catalog(paths.catalog_file()).catalog, "target")


def _own_draft(pair: Pair, known: Catalog) -> tuple[Path | None, str, str | None]:
    """A pair's own draft; else what is said of that, and why it was refused: one that was never fetched was not."""
    if pair.draft == "lookup":
        return None, "", None
    try:
        return _find(pair.name, known, "draft"), "", None
    except ModelNotFoundError as error:
        refused = clean_line(_phrase(error), 400) if isinstance(error, CannotUseError) else None
        return None, f"Until its draft is here, {pair.title} drafts from the text so far: {error}", refused


def _find(wanted: str, known: Catalog, role: Role) -> Path:
    models_dir = paths.models_dir()
    try:
        return _whole_set(resolve(wanted, models_dir, known, role=role), models_dir)
    except ModelNotFoundError as error:
        found = _read_in_place(wanted, role, isinstance(error, UnknownNameError)) if _is_name(wanted) else None
        found = found or _partly_here(wanted, models_dir)
        if isinstance(found, ModelNotFoundError):
            raise found from error
        if found is None:
            raise
        return found


def _whole_set(file: Path, models_dir: Path) -> Path:
    """``file``; where it is one part of a model, the headers of all are compared, as ``models check`` does it: what
    native code says of parts that do not fit together is for its authors."""
    if split_name(file.name).count < 2:
        return file
    from app.library.outside import named_by_path  # reads headers: only where it is needed
    from app.library.records import ShelfError

    try:
        model = named_by_path(str(file))
    except ShelfError:  # it went away meanwhile: whoever opens it says so
        return file
    if model is not None and model.fault is not None:
        raise CannotUseError(_unusable(model, model.fault, models_dir))
    return file


def _unusable(model: LocalModel, why: str, models_dir: Path) -> str:
    """The sentence for a model that is there and cannot be used."""
    return f"{why_words(model.path.name, why, ' cannot be used')}{_way_out(model, models_dir)}."


def _is_name(wanted: str) -> bool:
    return not (wanted.startswith((".", "/", "~", "\\")) or Path(wanted).exists())


def _partly_here(wanted: str, models_dir: Path) -> CannotUseError | None:
    """What there is to say of a download that has not ended."""
    begun = next((one for one in all_begun(models_dir) if one.is_called(wanted)), None)
    return CannotUseError(f"{begun.words}.") if begun is not None else None


def _way_out(model: LocalModel, models_dir: Path) -> str:
    """How a file that is not whole can become so, or what to do instead; empty for one that is no model to talk to."""
    if model.fault is None:
        return ""
    if model.instead:
        return f"; {model.instead}"
    if model.path.is_relative_to(models_dir):
        inside = model.path.relative_to(models_dir).as_posix()
        if inside.count("/") >= 2:
            return f"; this fetches it again: slipstream models pull {inside}{' --replace' * _in_the_way(model)}"
    if model.origin in DOWNLOADING:
        return f"; finish its download where it began ({model.origin}), or fetch it again"
    return "; get it again from where it came"


def _in_the_way(model: LocalModel) -> bool:
    """Whether a plain pull would leave its files alone: they are all here, and one of them is the user's own."""
    from app.library.entries import may_delete  # reads headers: only where it is needed

    if len(model.parts) < split_name(model.path.name).count:
        return False  # it fetches what is missing
    return not all(may_delete(part, paths.models_dir()) for part in model.parts)


def _read_in_place(wanted: str, role: Role, is_name: bool) -> Path | ModelNotFoundError | None:
    """A model that another tool keeps: its path, what is wrong with it, or nothing."""
    from app.library.inventory import same_model, take_inventory  # reads headers: only where it is needed

    inventory = take_inventory()
    if (pair := inventory.catalog.find(wanted)) is not None:
        here = next(one for one in inventory.pairs if one.pair.name == pair.name)
        source = here.target if role == "target" or here.draft is None else here.draft
        if source.usable and source.model is not None:
            return source.model.path
        return CannotUseError(f"{words}.") if (words := source.partly(pair.name)) else None
    found = same_model(inventory, wanted)
    if len(found) > 1:
        paths = ", ".join(str(m.path) for m in found)
        return CannotUseError(f"{wanted} is {len(found)} models on this disk: {paths}; give one's path.")
    if found and (why := found[0].why_not) is not None:
        return CannotUseError(_unusable(found[0], why, inventory.models_dir))
    if found:
        return found[0].path
    if is_name and (begun := _partly_here(wanted, inventory.models_dir)) is not None:
        return begun
    names = [inventory.name(one) for one in inventory.models if one.usable]
    return UnknownNameError(unknown_words(wanted, names, inventory.catalog)) if is_name else None
