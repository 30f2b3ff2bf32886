"""What a draft of k tokens brings: the cost model of Leviathan et al. 2023 (section 3.3) on measured costs.

Times are in plain passes: ``costs[n]`` is a pass over n tokens (``costs[1]`` = 1), ``draft`` is one proposal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST = 15
"""Longest draft that is looked at: a pass of 16 tokens is the widest that the self-test measures."""


def gain(costs: Mapping[int, float], draft: float, acceptance: Sequence[float], length: int) -> float | None:
    """Plain time over drafted time for drafts of ``length``; None where the pass was not measured. ``acceptance[i]``:
    how often the i-th proposal is accepted when those before it were; the last one also stands for later places."""
    if length == 0:
        return 1.0
    if length + 1 not in costs or not acceptance:
        return None
    tokens, reached = 1.0, 1.0
    for place in range(length):
        reached *= acceptance[min(place, len(acceptance) - 1)]
        tokens += reached
    return tokens / (costs[length + 1] + length * draft)


def gains(costs: Mapping[int, float], draft: float, acceptance: Sequence[float]) -> list[tuple[int, float]]:
    """(length, gain) for every length that was measured, from 0."""
    found = [(length, gain(costs, draft, acceptance, length)) for length in range(MOST + 1)]
    return [(length, value) for length, value in found if value is not None]


def break_even(costs: Mapping[int, float], draft: float) -> tuple[float, int] | None:
    """The smallest acceptance, the same at every place, from which some length pays, and that length; None where not
    even certain proposals do."""
    best: tuple[float, int] | None = None
    for length in range(1, MOST + 1):
        if (certain := gain(costs, draft, [1.0], length)) is None or certain <= 1:
            continue
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            pays = (gain(costs, draft, [middle], length) or 0.0) >= 1
            low, high = (low, middle) if pays else (middle, high)
        if best is None or high < best[0]:
            best = (high, length)
    return best
