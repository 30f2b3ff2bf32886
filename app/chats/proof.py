"""Whether an answer has a record that can be shown and made again, and why not, in the same words wherever it is asked
for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.chats.records import Figures

NO_PROOF: Final = "This answer has no receipt: the engine had to be stopped, or the answer is still being written."
ALTERED: Final = "The record of this answer was changed after it was made."
UNSEALED: Final = (
    "This answer bears no seal, though the version that made it seals every answer: nothing tells whether its record "
    "and its text are as they were."
)
TEXT_CHANGED: Final = (
    "The text of this answer was changed after it was made: what the chat shows is not what its tokens say, and a "
    "replay compares these alone."
)
NO_TOKENS: Final = "The answer cannot be made again: it ended before a token of it was kept."


def damaged_words(answer: int) -> str:
    """A record is there and cannot be read."""
    return f"The record of answer {answer} is damaged, or a later version of Slipstream wrote it."


def left_out_words(count: int, of_what: str) -> str:
    """``The records of 2 answers are damaged, ...; they are left out of the speeds.``; empty for none."""
    if not count:
        return ""
    if count == 1:
        return (
            "The record of one answer is damaged, or a later version of Slipstream wrote it; it is left out of "
            f"{of_what}."
        )
    return (
        f"The records of {count} answers are damaged, or a later version of Slipstream wrote them; they are left "
        f"out of {of_what}."
    )


def damage(figures: Figures | None) -> str:
    """That a record is there and cannot be read; empty where it can, and where there is none."""
    if figures is not None and (figures.stats() is None or (figures.receipt_json and figures.receipt() is None)):
        return damaged_words(figures.message)
    return ""


def no_proof(figures: Figures | None) -> str:
    """Why there is no receipt of an answer to show or to go by; empty where there is one."""
    return damage(figures) or (NO_PROOF if figures is None or figures.receipt_json is None else "")
