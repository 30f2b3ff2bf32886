"""The figures of a comparison, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Static

from app.clean import clean_line
from app.compare.conduct import Comparison
from app.compare.verdict import FACTOR, Ratio, Row
from app.receipt import SLOWER
from app.tui.widgets.curve_plot import STYLES as CURVES

WIDTH: Final = 14
"""Columns of a way, where there are two."""
LEAST: Final = 7
"""Columns of a way that any figure fits into."""
MANY: Final = 13
"""Columns of a way, where there are more: each figure has its factor beside it."""


class CompareTable(Static):
    """Numbers are right-aligned and keep their columns while they change. A way has the colour of its curve."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, comparison: Comparison, rows: Sequence[Row]) -> None:
        many = len(comparison.ways) > 2
        name = max(len(row.name) for row in rows)
        room = max(LEAST, (self.screen.size.width - 8 - name) // 2 - 2)  # of the two columns
        labels = [clean_line(way.label, MANY if many else min(40, room)) for way in comparison.ways]
        width = MANY if many else max(min(WIDTH, room), *(len(label) for label in labels))
        titles = ((f"  {label:>{width}}", CURVES[at % len(CURVES)]) for at, label in enumerate(labels))
        lines = [Content.assemble(" " * name, *titles, ("" if many else f"   {FACTOR}", "$faint"))]
        lines += [self._of_many(row, name) if many else self._line(row, name, width) for row in rows]
        self.update(Content("\n").join(lines))

    @staticmethod
    def _of_many(row: Row, name: int) -> Content:
        """The factors in the cells; how far they spread is said in the sentences below."""
        line = Content.styled(f"{row.name:<{name}}", "$faint")
        for cell, ratio in zip(row.cells, (None, *row.ratios, *[None] * len(row.cells)), strict=False):
            short = cell.partition(" (")[0]  # without the counts of what was accepted
            factor = "" if ratio is None else f" {ratio.median:.2f}x"
            padding = " " * (2 + MANY - len(short) - len(factor))
            style = "" if ratio is None else _style(ratio)
            line = Content.assemble(line, padding, (short, "$foreground"), (factor, style))
        return line

    @staticmethod
    def _line(row: Row, name: int, width: int) -> Content:
        cells = "".join(f"  {cell:>{width}}" for cell in row.cells)
        parts = [Content.styled(f"{row.name:<{name}}", "$faint"), Content.styled(cells, "$foreground")]
        parts += [_ratio(ratio) for ratio in row.ratios if ratio is not None]
        return Content("").join(parts)


def _ratio(ratio: Ratio) -> Content:
    return Content.styled(f"   {ratio}", _style(ratio))


def _style(ratio: Ratio) -> str:
    return "$warning" if ratio.high < SLOWER else "$accent" if ratio.low > 1 else "$muted"
