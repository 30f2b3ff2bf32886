"""Geometric means of ratios, with the interval that the runs allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20260101


@dataclass(frozen=True, slots=True)
class Estimate:
    """A geometric mean of ``count`` ratios with its 95 % interval; one ratio alone has none (None)."""

    value: float
    low: float | None
    high: float | None
    count: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def geometric_mean(values: Sequence[float]) -> float:
    """exp of the mean logarithm; of at least one positive number."""
    return float(np.exp(np.mean(np.log(values))))


def estimate(groups: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate | None:
    """The geometric mean over ``groups`` (categories), every group weighing the same however many ratios it holds.

    Percentile bootstrap: within each group its ratios are drawn anew with replacement. A single ratio shows no spread
    of its group; where a group has only one, the groups are drawn anew as well, and what lies between them counts.
    None without any ratio.
    """
    logs = [np.log(np.asarray(group, float)) for group in groups if len(group)]
    if not logs:
        return None
    value, count = float(np.exp(np.mean([values.mean() for values in logs]))), sum(map(len, logs))
    if count == 1:
        return Estimate(value, None, None, count)
    random = np.random.default_rng(seed)
    means = np.stack(
        [values[random.integers(len(values), size=(resamples, len(values)))].mean(axis=1) for values in logs]
    )
    if any(len(values) == 1 for values in logs):
        means = np.take_along_axis(means, random.integers(len(logs), size=means.shape), axis=0)
    low, high = np.exp(np.percentile(means.mean(axis=0), [2.5, 97.5]))
    return Estimate(value, float(low), float(high), count)


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
    if len(logs) == 1:
        return int(means.argmin()), Estimate(float(np.exp(means.min())), None, None, 1)
    random = np.random.default_rng(seed)
    drawn = logs[random.integers(len(logs), size=(resamples, len(logs)))].mean(axis=1).min(axis=1)
    low, high = np.exp(np.percentile(drawn, [2.5, 97.5]))
    return int(means.argmin()), Estimate(float(np.exp(means.min())), float(low), float(high), len(logs))
