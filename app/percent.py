"""Shares in percent: how they are rounded, and the one way in which they are written, ``71 %``."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percent(part: float, whole: float) -> int | None:
    """Whole percent; None where there is nothing to divide by. 0 and 100 are said only when they are exact."""
    if whole <= 0:
        return None
    rounded = round(100 * part / whole)
    return rounded if part in (0, whole) else min(max(rounded, 1), 99)


def shares(parts: Sequence[float]) -> list[int]:
    """Whole percent of each part, 100 altogether: what rounding leaves goes to the largest remainders."""
    whole = sum(parts)
    if whole <= 0:
        return [0] * len(parts)
    exact = [100 * part / whole for part in parts]
    found = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(parts)), key=lambda at: found[at] - exact[at])
    for at in by_remainder[: 100 - sum(found)]:
        found[at] += 1
    return found


def written(hundredths: float | str, digits: int = 0) -> str:
    """``71 %``, ``2.5 %``: nothing else in the program writes a percent sign behind a figure."""
    return f"{hundredths if isinstance(hundredths, str) else f'{hundredths:.{digits}f}'} %"


def share(part: float, whole: float = 1.0, *, unknown: str = "–") -> str:
    """The same of a share that was counted or measured; ``unknown`` where there is nothing to divide by."""
    found = percent(part, whole)
    return unknown if found is None else written(found)


def finely(part: float) -> str:
    """``2.5 %``, of a share of 1 where the tenth counts: a model's probabilities."""
    return written(100 * part, 1)
