"""The pair that answers now, where it stands in no other row of the list: a target with a draft of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence

from app.history.speeds import Speeds
from app.library.details import at_path, check_facts
from app.library.entries import holds
from app.library.inventory import Inventory
from app.library.local import LocalModel
from app.library.outside import named_by_path
from app.library.records import Entry, Fact, ShelfError, State
from app.library.room import Room

KEY = "the pair in use"
"""Of its row; it has no name that another command takes."""


def used_entry(
    used: tuple[str, str], others: Sequence[Entry], inventory: Inventory, room: Room, speeds: Speeds
) -> Entry | None:
    """A row for ``used``, the paths of a target and its draft; None where there is no draft, another row is that pair,
    or a file is not there to tell of."""
    target, draft = used_models(used, inventory)
    if target is None or draft is None:
        return None
    pairs = [(at_path(inventory, entry.target), at_path(inventory, entry.draft)) for entry in others if entry.draft]
    if (target, draft) in pairs:
        return None
    fit = room.fit(target.shape, draft.shape)
    speed = speeds.get(used) or speeds.get((str(target.path), str(draft.path)))
    return Entry(
        key=KEY,
        title=f"{target.title} + {draft.title}",
        state=State.READY,
        size=target.size + draft.size,
        here=target.size + draft.size,
        memory=fit.estimate.total,
        fits=holds(fit),
        target=used[0],
        draft=used[1],
        speed=speed.tokens_per_second if speed else None,
        factor=speed.speedup if speed else None,
    )


def used_facts(used: tuple[str, str], inventory: Inventory, room: Room) -> Sequence[Fact]:
    """What there is to say about it."""
    target, draft = used_models(used, inventory)
    return check_facts(target, draft, inventory, room).facts if target is not None else ()


def used_models(used: tuple[str, str], inventory: Inventory) -> tuple[LocalModel | None, LocalModel | None]:
    """The two models, also outside of the places that are looked at; None for one that is not there."""
    target, draft = (_model(path, inventory) for path in used)
    return target, draft


def _model(path: str, inventory: Inventory) -> LocalModel | None:
    if not path:
        return None
    try:
        found = at_path(inventory, path) or named_by_path(path)
    except ShelfError:
        return None
    return found if found is not None and found.usable else None
