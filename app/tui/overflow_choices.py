"""What can be done about a conversation that outgrows the context, in words: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from app.percent import share
from engine.files.sizes import size_words

if TYPE_CHECKING:
    from app.library.window import Window
    from app.tui.overflow_policy import Policy
    from engine.protocol import Message, Outgrown

Way = Literal["drop", "larger", "stop"]

LABELS: Final[dict[Way, str]] = {
    "drop": "drop the oldest turns",
    "larger": "larger context",
    "stop": "stop",
}
SHORTER: Final = {LABELS["drop"]: "drop oldest turns"}
"""Labels where there is little room for what they mean."""
LEAVE: Final = "leave it as it is"
ONE_TURN: Final = "there is no older turn to leave out"
DROPPING: Final = "done in this chat whenever it is full"
STAY: Final = "; they stay in the chat"


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of the question."""

    way: Way
    label: str
    words: str
    """What it means here."""
    more: str = ""
    """What there is to say where there is room for it."""
    why_not: str = ""
    """Why it cannot be chosen; empty: it can."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The question: what it is about, and every way out of it, possible or not."""

    heading: str
    rows: tuple[Choice, ...]


def when_refused(outgrown: Outgrown, messages: Sequence[Message], window: Window, kept: str) -> Choices:
    """The conversation ``messages`` was not sent. ``kept``: where what was to be sent is now."""
    heading = f"{outgrown.tokens:,} tokens do not fit into the context of {outgrown.context:,}"
    return Choices(heading, (_drop(outgrown, messages), _larger(window), _stop(kept)))


def when_asked(used: int, size: int, policy: Policy, window: Window) -> Choices:
    """Nothing is in the way yet: somebody wants to know."""
    heading = f"context: {min(used, size):,} of {size:,} tokens are used, {share(min(used, size), size)}"
    now = {"ask": "you are asked when it is full", "stop": "nothing is sent when it is full", "drop-oldest": DROPPING}
    if policy == "drop-oldest":
        drop = Choice("drop", LABELS["drop"], "", why_not=DROPPING)
    else:
        drop = Choice("drop", LABELS["drop"], "whenever it is full, from now on", STAY)
    return Choices(heading, (drop, _larger(window), Choice("stop", LEAVE, now[policy])))


def dropped_turns(messages: Sequence[Message], dropped: int) -> int:
    """How many turns the first ``dropped`` messages are; system messages do not count."""
    spoken = [message for message in messages if message.role != "system"]
    return sum(message.role == "user" for message in spoken[:dropped])


def _drop(outgrown: Outgrown, messages: Sequence[Message]) -> Choice:
    label = LABELS["drop"]
    if not outgrown.dropped:
        turns = dropped_turns(messages, len(messages))
        reason = ONE_TURN if turns < 2 else f"{outgrown.left:,} tokens are left even without them"
        return Choice("drop", label, "", why_not=reason)
    turns, tokens = dropped_turns(messages, outgrown.dropped), outgrown.tokens - outgrown.left
    words = f"leaves out {_many(turns, 'turn')} ({tokens:,} tokens), from now on"
    return Choice("drop", label, words, STAY)


def _larger(window: Window) -> Choice:
    if window.why_not:
        return Choice("larger", LABELS["larger"], "", why_not=window.why_not)
    words = f"{window.size:,} tokens"
    if window.extra is not None:
        words += f" take {size_words(window.extra)} more"
    if window.free is not None:
        words += f"; {size_words(window.free)} are free"
    return Choice("larger", LABELS["larger"], words, ", and the model is loaded anew")


def _stop(kept: str) -> Choice:
    return Choice("stop", LABELS["stop"], f"nothing is sent; {kept}")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
