"""Expected gain over draft length: a bar for each length that was measured, and a line where nothing is gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final

from textual.content import Content

from app.bars import LEVELS
from app.tui.widgets.sheet import Sheet

HEIGHT: Final = 7
AXIS: Final = 7
"""Columns of the figures at the left."""
BAR: Final = 2
UNKNOWN: Final = "·"
"""Stands for a length whose pass was not measured."""


class GainChart(Sheet):
    """Nothing where nothing was measured."""

    _curve: Sequence[tuple[int, float]] = ()
    _title = ""

    def show(self, curve: Sequence[tuple[int, float]], title: str) -> None:
        """(draft length, times as fast as plain decoding) of each length that is known."""
        self._curve, self._title, self._drawn = curve, title, (0, [])
        self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        if len(self._curve) < 2:
            return []
        gains = dict(self._curve)
        longest, top = max(gains), max(1.0, *gains.values())
        even = min(HEIGHT - 1, int(HEIGHT / top))
        lines = [*(Content.styled(line, "bold $foreground") for line in wrap(self._title, width)), Content()]
        lines += [_row(gains, longest, top, row, even) for row in range(HEIGHT - 1, -1, -1)]
        best = max(gains, key=lambda length: gains[length])
        labels = (
            (f"{length:<{BAR + 1}}", "bold $foreground" if length == best else "$faint")
            for length in range(longest + 1)
        )
        lines.append(Content.styled(" " * (AXIS - 2) + "└" + "─" * ((BAR + 1) * (longest + 1)), "$rule"))
        lines.append(Content.assemble(" " * AXIS, *labels))
        return lines


def _row(gains: Mapping[int, float], longest: int, top: float, row: int, even: int) -> Content:
    """``row`` counts from the bottom; ``even``: where decoding is as fast as without drafts."""
    label = f"{top:.1f}x" if row == HEIGHT - 1 else "1.0x" if row == even else ""
    line = Content.assemble((f"{label:>{AXIS - 3}} ", "$faint"), ("│ ", "$rule"))
    for length in range(longest + 1):
        gain = gains.get(length)
        filled = 0 if gain is None else round(gain / top * HEIGHT * len(LEVELS)) - row * len(LEVELS)
        bar = (
            UNKNOWN if gain is None and row == 0 else "" if filled <= 0 else LEVELS[min(filled, len(LEVELS)) - 1] * BAR
        )
        blank = "─" if row == even else " "
        style = "$faint" if gain is None else "$muted" if length == 0 else "$accent" if gain > 1 else "$warning"
        line = Content.assemble(line, (bar, style), (blank * (BAR + 1 - len(bar)), "$rule"))
    return line
