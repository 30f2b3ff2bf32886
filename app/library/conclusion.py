"""What a check of a model, or of a model with a draft, comes to: the one sentence that holds for the case."""

from __future__ import annotations

from app.library.local import LocalModel
from app.library.room import Room
from app.library.verdicts import DraftVerdict


def conclusion(target: LocalModel, verdict: DraftVerdict | None, room: Room, context: int | None) -> str:
    """``verdict``: on the draft that was named; None without one, or where the target cannot be used anyway."""
    if not target.usable:
        return "This does not work here: the target cannot be used."
    if not _fits(target, None, room, context):
        return "This does not work here: the target alone does not fit into memory."
    works = (
        f"The target works here, {'decoded plainly' if target.shape.undo == 'none' else 'alone or with prompt lookup'}"
    )
    if verdict is None:
        return f"{works}."
    if not verdict.can_draft:
        return f"{works}; this draft cannot serve it."
    if not _fits(target, verdict.draft, room, context):
        return f"{works}; with this draft it does not fit into memory."
    if verdict.kind == "fits":
        return "This works here, with this draft."
    return "This works here, but this draft will not pay: answers stay the same and do not come faster."


def _fits(target: LocalModel, draft: LocalModel | None, room: Room, context: int | None) -> bool:
    return room.fit(target.shape, draft.shape if draft is not None else None, context).words != "does not fit"
