"""The lines of the list: pairs of the catalogue first, then the models of each place on this disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.history.speeds import Speed, Speeds
from app.library.found import OURS, PACKAGE
from app.library.inventory import Inventory, PairHere
from app.library.local import LocalModel
from app.library.origins import is_damaged, own_origin
from app.library.partly import Begun
from app.library.records import Entry, State
from app.library.room import Room
from app.library.words import why_words
from engine.files.fit import Fit

OUR_PLACES = (OURS, PACKAGE)


def all_entries(inventory: Inventory, room: Room, speeds: Speeds) -> Iterator[Entry]:
    """Everything, in the order of the list."""
    for here in inventory.pairs:
        yield pair_entry(here, inventory.models_dir, room, speeds)
    for begun in inventory.begun:
        yield begun_entry(begun)
    loose = sorted(inventory.loose, key=lambda model: (model.origin not in OUR_PLACES, model.origin, not model.usable))
    for model in loose:
        yield model_entry(model, inventory, room, speeds)


def pair_entry(here: PairHere, models_dir: Path, room: Room, speeds: Speeds) -> Entry:
    """A pair of the catalogue."""
    pair, target = here.pair, here.target.model
    draft = here.draft.model if here.draft is not None else None
    usable = here.target.usable and target is not None
    memory, fits = pair_memory(here, room)
    speed = _speed(speeds, target, draft if here.draft is not None and here.draft.usable else None) if usable else None
    return Entry(
        key=pair.name,
        title=pair.title + (" + lookup" if pair.draft == "lookup" else ""),
        state=_state_of_pair(here),
        size=here.size,
        here=sum(source.here for source in here.sources),
        memory=memory,
        fits=fits,
        target=str(target.path) if usable and target is not None else "",
        draft=str(draft.path) if draft is not None and here.draft is not None and here.draft.usable else "",
        fetchable=not here.whole,
        context=pair.context,
        own=any(is_ours(model, models_dir) for model in here.models) or any(source.begun for source in here.sources),
        trouble="; ".join(why_words(m.path.name, m.why_not) for m in here.models if m.why_not is not None),
        speed=speed.tokens_per_second if speed else None,
        factor=speed.speedup if speed else None,
    )


def begun_entry(begun: Begun) -> Entry:
    """A download outside the catalogue that has not ended."""
    return Entry(
        key=begun.name,
        title=begun.name.rpartition("/")[2].removesuffix(".gguf") + (f" ({begun.called})" if begun.called else ""),
        state=State.PARTLY,
        place=place_words(OURS),
        size=begun.size,
        here=begun.here,
        fetchable=begun.name.count("/") >= 2 and not begun.again,
        own=True,
    )


def model_entry(model: LocalModel, inventory: Inventory, room: Room, speeds: Speeds) -> Entry:
    """A model on this disk that belongs to no whole pair."""
    fit = room.fit(model.shape) if model.usable else None
    speed = _speed(speeds, model, None) if model.usable else None
    ours = is_ours(model, inventory.models_dir)
    return Entry(
        key=inventory.name(model),
        title=model.title,
        state=_state_of_model(model),
        place=place_words(model.origin),
        size=model.size,
        here=model.size,
        memory=fit.estimate.total if fit is not None else None,
        fits=holds(fit) if fit is not None else None,
        target=str(model.path) if model.usable else "",
        own=ours,
        trouble=model.why_not or "",
        speed=speed.tokens_per_second if speed else None,
        factor=speed.speedup if speed else None,
    )


def pair_memory(here: PairHere, room: Room) -> tuple[int, bool | None]:
    """What it takes and whether that is there (None: not known): by the files themselves where they are here, else as
    the catalogue says."""
    if (fit := pair_fit(here, room)) is not None:
        return fit.estimate.total, holds(fit)
    needed = round(here.pair.memory * 1e9)
    return needed, room.holds(needed)


def pair_fit(here: PairHere, room: Room) -> Fit | None:
    """The estimate for a pair that is whole."""
    target, draft = here.target.model, here.draft.model if here.draft is not None else None
    if not here.whole or target is None:
        return None
    return room.fit(target.shape, draft.shape if draft is not None else None, here.pair.context)


def holds(fit: Fit) -> bool | None:
    """Whether the memory is there; None: not known."""
    return None if fit.words == "unknown" else fit.words != "does not fit"


def is_ours(model: LocalModel, models_dir: Path) -> bool:
    """Whether Slipstream fetched it: it lies in our own folder, not behind a link, with a note of where it came
    from."""
    return model.origin == OURS and any(may_delete(part, models_dir) for part in model.parts)


def may_delete(file: Path, models_dir: Path) -> bool:
    """Whether the file is one that Slipstream fetched, as it was fetched or found damaged since."""
    if file.is_symlink() or not (own_origin(file) is not None or is_damaged(file)):
        return False
    try:
        return file.resolve().is_relative_to(models_dir.resolve())
    except OSError:
        return False


def place_words(origin: str) -> str:
    """The heading that models of one place stand under."""
    return "on this disk" if origin in OUR_PLACES else f"on this disk ({origin})"


def _state_of_pair(here: PairHere) -> State:
    if here.whole:
        ours = all(model.origin in OUR_PLACES for model in here.models)
        return State.READY if ours else State.IN_PLACE
    faulty = [model for model in here.models if model.fault is not None]
    if faulty and not any(source.begun for source in here.sources):
        return State.UNREADABLE if all(model.unreadable for model in faulty) else State.BROKEN
    return State.PARTLY if any(source.here for source in here.sources) else State.ABSENT


def _state_of_model(model: LocalModel) -> State:
    if model.fault is not None:
        return State.UNREADABLE if model.unreadable else State.BROKEN
    if not model.usable:
        return State.OTHER
    return State.READY if model.origin in OUR_PLACES else State.IN_PLACE


def _speed(speeds: Speeds, target: LocalModel | None, draft: LocalModel | None) -> Speed | None:
    if target is None:
        return None
    return speeds.get((str(target.path), str(draft.path) if draft is not None else ""))  # of no other pair
