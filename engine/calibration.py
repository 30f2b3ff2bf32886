"""From confidence to probability: what proposals of one kind have been worth so far."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from engine.drafters.lookup import GRADES

DECAY = 0.99
"""Weight of older observations of a bucket: about the last hundred count, so a change of text is noticed."""
LOOKUP_PRIOR_WEIGHT, MARGIN_PRIOR_WEIGHT = 12.0, 6.0
"""Observations that a prior stands for: how matches behave differs less from pair to pair than how drafts do."""
AVERAGE_PRIOR, AVERAGE_PRIOR_WEIGHT = 0.7, 6.0

LOOKUP_BUCKETS = tuple(range(GRADES))
LOOKUP_PRIOR = (
    *(0.28, 0.28, 0.40, 0.44, 0.50, 0.60, 0.70, 0.75, 0.90),
    *(0.50, 0.62, 0.70, 0.73, 0.78, 0.82, 0.88, 0.91, 0.95),
    *(0.72, 0.80, 0.83, 0.90, 0.93, 0.95, 0.96, 0.97, 0.98),
)
"""Acceptance by :func:`engine.drafters.lookup.grade` before anything was observed: first where the text was continued
in several ways, then seen once, then always alike; each by length of the match. Measured on the 90 first answers of
Spec-Bench (128 tokens, temperature 0 and 0.7 together, 52,000 proposals) with SmolLM2-135M Q4_1."""

MARGIN_BUCKETS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
MARGIN_PRIOR = (0.35, 0.45, 0.5, 0.6, 0.68, 0.75, 0.83, 0.9, 0.95)
"""Acceptance by the draft's margin between its best and second candidate, noise included."""


class Calibration:
    """What proposals of one kind have been worth, by bucket of a confidence value (grade of a match, or margin).

    Only positions whose predecessors were accepted are observations: what lies behind a rejection was never seen.
    """

    def __init__(
        self,
        edges: Sequence[float],
        prior: Sequence[float],
        counts: dict[int, tuple[float, float]],
        weight: float = MARGIN_PRIOR_WEIGHT,
    ) -> None:
        self._edges, self._prior, self._weight = edges, prior, weight
        self._counts = {bucket: tuple(counts.get(bucket, (0.0, 0.0))) for bucket in range(len(edges))}
        self._sums: tuple[float, float] | None = None  # asked for at every pass

    def probability(self, confidence: float) -> float:
        """The calibrated probability that a proposal of this confidence is accepted."""
        bucket = self._bucket(confidence)
        hits, seen = self._counts[bucket]
        return (hits + self._weight * self._prior[bucket]) / (seen + self._weight)

    @property
    def average(self) -> float:
        """Acceptance over all buckets, as they occur; the prior's middle before anything was observed."""
        hits, seen = self._totals()
        return (hits + AVERAGE_PRIOR_WEIGHT * AVERAGE_PRIOR) / (seen + AVERAGE_PRIOR_WEIGHT)

    @property
    def observed(self) -> float | None:
        """Acceptance as it was seen lately, without any prior; None when nothing was."""
        hits, seen = self._totals()
        return hits / seen if seen else None

    @property
    def seen(self) -> float:
        """How much was observed, old observations decayed."""
        return self._totals()[1]

    def _totals(self) -> tuple[float, float]:
        if self._sums is None:
            self._sums = (
                sum(hits for hits, _ in self._counts.values()),
                sum(seen for _, seen in self._counts.values()),
            )
        return self._sums

    def observe(self, confidence: float, accepted: bool) -> None:
        bucket = self._bucket(confidence)
        hits, seen = self._counts[bucket]
        self._counts[bucket] = (hits * DECAY + accepted, seen * DECAY + 1.0)
        self._sums = None

    def _bucket(self, confidence: float) -> int:
        return max(0, bisect.bisect_right(self._edges, confidence) - 1)

    def counts(self) -> dict[int, tuple[float, float]]:
        """(accepted, seen), decayed, by bucket: what to keep."""
        return {bucket: (hits, seen) for bucket, (hits, seen) in self._counts.items() if seen}
