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
