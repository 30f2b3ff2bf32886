"""What the loop asks of a drafter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens, and who proposed them (``lookup`` or ``draft``; ``none`` when there are none).

    ``confidence``: one figure a token, in the drafter's own measure (grade of the match, margin), for calibration.
    ``prefill_seconds``: how much of the time spent went into reading ``prefill_tokens`` of the prompt, once an answer.
    """

    tokens: Sequence[int]
    drafter: str
    confidence: Sequence[float] = ()
    prefill_seconds: float = 0.0
    prefill_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one pass. ``chosen``: the tokens the target chose in it, at least one. ``stopped``: the answer
    ended, so proposals behind the last accepted one were not verified. ``seconds``: the pass with its choices, without
    drafting; ``draft_seconds``: the drafting, without its first reading of the prompt."""

    draft: Draft
    accepted: int
    chosen: Sequence[int]
    stopped: bool
    seconds: float
    draft_seconds: float


NOTHING = Draft((), "none")


class Drafter(Protocol):
    """Proposes what may follow. ``history`` only grows between the calls of one answer, and begins with what
    :meth:`begin` was given."""

    name: str

    def begin(self, prompt: Sequence[int]) -> None:
        """A new answer starts behind ``prompt``, the ancestors of the answer in its own branch and nothing else."""

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """At most ``limit`` (>= 1) proposals for the tokens behind ``history``."""


class NoDrafter:
    """Plain decoding: the same loop with empty drafts."""

    name = "none"

    def begin(self, prompt: Sequence[int]) -> None:
        pass

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        return NOTHING
