"""Can a draft pay at all? The engine's own cost model, asked before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from engine.cost import SOUND_PASSES, SOUND_PROPOSALS, CostModel, CostProfile

__all__ = ["LONGEST", "SOUND_PASSES", "SOUND_PROPOSALS", "pays_from"]

LONGEST = 7
"""Proposals of the longest draft that is weighed: as many as exact mode sends."""


def pays_from(draft_ratio: float, pass_ratios: Mapping[int, float] | None = None) -> float | None:
    """The share of proposals that must be accepted for drafts to pay; None where not even all of them would do.

    ``draft_ratio``: the time of a drafted token over that of a plain pass. ``pass_ratios``: width of a pass -> its
    time over a plain one, where measured; else what the engine assumes before it has measured.
    """
    known = tuple(sorted((pass_ratios or {}).items()))
    return _pays_from(round(max(0.0, draft_ratio), 2), known)


@lru_cache(maxsize=1024)
def _pays_from(draft_ratio: float, pass_ratios: tuple[tuple[int, float], ...]) -> float | None:
    if draft_ratio >= 2:
        return None
    model = CostModel(CostProfile(ratios=dict(pass_ratios)))
    return model.break_even_average(LONGEST, draft_ratio)
