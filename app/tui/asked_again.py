"""An answer asked for once more, on the screen and in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.tui.conversation import Turn
    from engine.protocol import GenerateSettings

SAME_AGAIN: Final = (
    "At temperature 0 or with a fixed seed the same answer comes again, unless something else has changed."
)
BACK: Final = "Stopped before a word had come: the answer is as it was."


def question_of(turn: Turn) -> int | None:
    """The message that ``turn`` answers, or is."""
    said = turn.message
    if said is None:
        return None
    return said.parent if said.role == "assistant" else said.id


def comes_again(settings: GenerateSettings) -> bool:
    """Whether nothing is drawn at random that was not drawn before."""
    return settings.seed is not None or settings.sampling.temperature == 0
