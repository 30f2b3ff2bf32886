"""What the loop asks of a drafter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens, and who proposed them (``lookup`` or ``draft``; ``none`` when there are none).

    ``prefill_seconds``: how much of the time spent went into reading the prompt for the first time.
    """

    tokens: Sequence[int]
    drafter: str
    prefill_seconds: float = 0.0


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
