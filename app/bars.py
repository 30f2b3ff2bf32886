"""Small drawings made of block characters: speed over an answer, shares of a whole, how often something was right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LEVELS: Final = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], cells: int) -> str:
    """``▂▄▆``: ``values`` from 0 to the largest in exactly ``cells`` characters, filled from the left while there are
    fewer values than cells. Fewer than two values say nothing: blanks."""
    if cells <= 0 or len(values) < 2:
        return " " * max(0, cells)
    means = values if len(values) <= cells else [_mean(values, cell, cells) for cell in range(cells)]
    top = max(means)
    return "".join(level(value, top) for value in means).ljust(cells)


def level(value: float, top: float) -> str:
    """One bar: ``▁`` for next to nothing, ``█`` for ``top``."""
    if top <= 0:
        return LEVELS[0]
    return LEVELS[min(len(LEVELS) - 1, max(0, round(value / top * len(LEVELS)) - 1))]


def split(parts: Sequence[float], cells: int) -> list[int]:
    """How many of ``cells`` each part gets: at least one for what is not nothing, and all of them together."""
    total = sum(parts)
    if total <= 0:
        return [0] * len(parts)
    widths = [max(1, round(part / total * cells)) if part > 0 else 0 for part in parts]
    while (missing := cells - sum(widths)) != 0:  # cell by cell, so that nothing that is there loses its last one
        largest = max(range(len(parts)), key=lambda index: widths[index])
        widths[largest] += 1 if missing > 0 else -1
    return widths


def _mean(values: Sequence[float], cell: int, cells: int) -> float:
    start, stop = cell * len(values) // cells, (cell + 1) * len(values) // cells
    return sum(values[start:stop]) / (stop - start)
