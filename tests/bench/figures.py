"""The arithmetic of the report: geometric means with bootstrap intervals, alternating orders, answers that loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20260101

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A geometric mean of ``count`` ratios with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def geometric_mean(values: Sequence[float]) -> float:
    """exp of the mean logarithm; of at least one positive number."""
    return float(np.exp(np.mean(np.log(values))))


def estimate(groups: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate | None:
    """The geometric mean over ``groups`` (categories), every group weighing the same however many ratios it holds.

    Percentile bootstrap: within each group its ratios are drawn anew with replacement. None without any ratio.
    """
    logs = [np.log(np.asarray(group, float)) for group in groups if len(group)]
    if not logs:
        return None
    random = np.random.default_rng(seed)
    means = np.zeros(resamples)
    for values in logs:
        means += values[random.integers(len(values), size=(resamples, len(values)))].mean(axis=1)
    low, high = np.exp(np.percentile(means / len(logs), [2.5, 97.5]))
    value = float(np.exp(np.mean([values.mean() for values in logs])))
    return Estimate(value, float(low), float(high), sum(map(len, logs)))


def against_best(
    rows: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[int, Estimate] | None:
    """How one thing does against the best of several others, measured beside it.

    Each row holds the ratios of one alternation, one a rival (above 1: better than that rival). Returns the column of
    the rival that is best over all rows, and the geometric mean against it. The best rival is chosen anew in every
    resample, so that being the luckiest of several is part of the interval.
    """
    if not rows:
        return None
    logs: NDArray[np.float64] = np.log(np.asarray(rows, float))
    means = logs.mean(axis=0)
    random = np.random.default_rng(seed)
    drawn = logs[random.integers(len(logs), size=(resamples, len(logs)))].mean(axis=1).min(axis=1)
    low, high = np.exp(np.percentile(drawn, [2.5, 97.5]))
    return int(means.argmin()), Estimate(float(np.exp(means.min())), float(low), float(high), len(logs))


def alternating(items: Sequence[Item], index: int, repetition: int) -> list[Item]:
    """The order of ``items`` for prompt number ``index``: rotated from prompt to prompt, and in every second
    repetition the reverse of the one before. Two items give AB, BA from prompt to prompt and ABBA in time.

    >>> alternating("AB", 0, 0) + alternating("AB", 0, 1)
    ['A', 'B', 'B', 'A']
    """
    turn = (index + repetition // 2) % len(items) if items else 0
    order = [*items[turn:], *items[:turn]]
    return order[::-1] if repetition % 2 else order


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


def fork(left: Sequence[int], right: Sequence[int]) -> int | None:
    """The first place where two answers differ; None when they are the same."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return place
    return None if len(left) == len(right) else min(len(left), len(right))
