"""The arithmetic of the report: answers that loop, and what it shares with the program's own comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from app.compare.order import alternating, fork
from app.compare.statistics import RESAMPLES, SEED, Estimate, against_best, estimate, geometric_mean

__all__ = [
    "RESAMPLES",
    "SEED",
    "Estimate",
    "against_best",
    "alternating",
    "estimate",
    "fork",
    "geometric_mean",
    "loops",
]

LOOP_TAIL = 32
LOOP_REPEATS = 3
LONGEST_PERIOD = 32


def loops(tokens: Sequence[int]) -> bool:
    """Whether an answer ended in degenerate repetition: its last tokens repeat with a period of at most 32 tokens,
    exactly, for at least 32 tokens and three periods.

    >>> loops([1, 2, 3] * 20), loops(list(range(128)))
    (True, False)
    """
    for period in range(1, LONGEST_PERIOD + 1):
        tail = max(LOOP_TAIL, LOOP_REPEATS * period)
        if tail > len(tokens):
            continue
        if all(tokens[-i] == tokens[-i - period] for i in range(1, tail - period + 1)):
            return True
    return False
