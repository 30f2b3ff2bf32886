"""From confidence to probability: what proposals of one kind have been worth so far."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

DECAY = 0.98
"""Weight of older observations of a bucket: about the last fifty count, so a change of text is noticed."""
PRIOR_WEIGHT = 6.0
AVERAGE_PRIOR = 0.7

LOOKUP_BUCKETS = (2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24)
LOOKUP_PRIOR = (0.35, 0.45, 0.55, 0.62, 0.68, 0.73, 0.77, 0.82, 0.87, 0.92, 0.95)
"""Acceptance by length of the match, before anything was observed (Spec-Bench prompts, SmolLM2)."""

MARGIN_BUCKETS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
MARGIN_PRIOR = (0.35, 0.45, 0.5, 0.6, 0.68, 0.75, 0.83, 0.9, 0.95)
"""Acceptance by the draft's margin between its best and second candidate, noise included."""


class Calibration:
    """What proposals of one kind have been worth, by bucket of a confidence value (match length or margin).

    Only positions whose predecessors were accepted are observations: what lies behind a rejection was never seen.
    """

    def __init__(self, edges: Sequence[float], prior: Sequence[float], counts: dict[int, tuple[float, float]]) -> None:
        self._edges, self._prior = edges, prior
        self._counts = {bucket: tuple(counts.get(bucket, (0.0, 0.0))) for bucket in range(len(edges))}

    def probability(self, confidence: float) -> float:
        """The calibrated probability that a proposal of this confidence is accepted."""
        bucket = self._bucket(confidence)
        hits, seen = self._counts[bucket]
        return (hits + PRIOR_WEIGHT * self._prior[bucket]) / (seen + PRIOR_WEIGHT)

    @property
    def average(self) -> float:
        """Acceptance over all buckets, as they occur; the prior's middle before anything was observed."""
        hits = sum(hits for hits, _ in self._counts.values())
        seen = sum(seen for _, seen in self._counts.values())
        return (hits + PRIOR_WEIGHT * AVERAGE_PRIOR) / (seen + PRIOR_WEIGHT)

    def observe(self, confidence: float, accepted: bool) -> None:
        bucket = self._bucket(confidence)
        hits, seen = self._counts[bucket]
        self._counts[bucket] = (hits * DECAY + accepted, seen * DECAY + 1.0)

    def _bucket(self, confidence: float) -> int:
        return max(0, bisect.bisect_right(self._edges, confidence) - 1)

    def counts(self) -> dict[int, tuple[float, float]]:
        """(accepted, seen), decayed, by bucket: what to keep."""
        return {bucket: (hits, seen) for bucket, (hits, seen) in self._counts.items() if seen}
