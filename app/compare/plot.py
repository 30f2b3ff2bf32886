"""Curves of tokens over time in braille dots: two columns and four rows of dots in a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))

TURN: Final = 2
"""Cells of one curve before the next one has its turn."""

Curve = Sequence[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Plot:
    """``rows``: cells of (character, number of the curve that owns the cell; -1: none), top first. ``most`` tokens
    are as high as the plot and ``seconds`` as wide."""

    rows: tuple[tuple[tuple[str, int], ...], ...]
    most: int
    seconds: float

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple("".join(character for character, _ in row) for row in self.rows)


def plot(curves: Sequence[Curve], width: int, height: int) -> Plot:
    """All curves in one frame of ``width`` by ``height`` cells; where some meet, they take turns in
    owning cells, so that each is seen also where all lie on one line."""
    most = max((tokens for curve in curves for _, tokens in curve), default=0)
    seconds = max((at for curve in curves for at, _ in curve), default=0.0)
    dots = [[0] * width for _ in range(height)]
    owners = [[list[int]() for _ in range(width)] for _ in range(height)]
    for number, curve in enumerate(curves):
        if not curve or not most or not seconds:
            continue
        for column in range(2 * width):
            at = (column + 0.5) / (2 * width) * seconds
            if at > curve[-1][0]:
                break
            row = 4 * height - 1 - min(4 * height - 1, int(_at(curve, at) / most * 4 * height))
            x, y = column // 2, row // 4
            dots[y][x] |= _DOTS[row % 4][column % 2]
            if number not in owners[y][x]:
                owners[y][x].append(number)
    rows = tuple(
        tuple(
            (chr(0x2800 + mask) if mask else " ", there[x // TURN % len(there)] if there else -1)
            for x, (mask, there) in enumerate(zip(*pair, strict=True))
        )
        for pair in zip(dots, owners, strict=True)
    )
    return Plot(rows, most, seconds)


def _at(curve: Curve, moment: float) -> float:
    """Tokens at ``moment``, in a straight line from one point to the next; none before the first token came."""
    before_at, before = 0.0, 0
    for at, tokens in curve:
        if at >= moment:
            share = (moment - before_at) / (at - before_at) if at > before_at else 1.0
            return before + share * (tokens - before) if before else 0.0
        before_at, before = at, tokens
    return float(before)
