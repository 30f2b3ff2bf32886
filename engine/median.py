"""A median that moves with what is measured."""

from __future__ import annotations

import collections
import statistics

PRIOR_VOTES = 4
"""Values that a prior stands for until as many were seen: one pass beside a busy neighbour must not decide."""


class RunningMedian:
    """The median of the last ``window`` values; a ``prior`` counts for PRIOR_VOTES values until that many came in."""

    def __init__(self, window: int, prior: float | None = None) -> None:
        self._values: collections.deque[float] = collections.deque(maxlen=window)
        self._prior = prior
        self._median: float | None = None

    def add(self, value: float) -> None:
        self._values.append(value)
        self._median = None

    def __len__(self) -> int:
        return len(self._values)

    @property
    def votes(self) -> int:
        """How many values the prior stands for at present."""
        return 0 if self._prior is None else max(0, PRIOR_VOTES - len(self._values))

    @property
    def value(self) -> float | None:
        if not self._values:
            return self._prior
        if self._median is None:
            priors = [] if self._prior is None else [self._prior] * self.votes
            self._median = statistics.median([*self._values, *priors])
        return self._median
