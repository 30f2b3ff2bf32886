"""The figures of a comparison, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Static

from app.clean import clean_line
from app.compare.conduct import Comparison
from app.compare.explained import Finding
from app.compare.verdict import FACTOR, Ratio, Row
from app.receipt import SLOWER
from app.receipt_words import many
from app.tui.widgets.curve_plot import STYLES as CURVES

WIDTH: Final = 14
"""Columns of a way, where there are two."""
LEAST: Final = 7
"""Columns of a way that any figure fits into."""
GAP: Final = 3
"""Columns before the factors."""
EDGES: Final = 4
"""Columns beside the table: the padding around it, and a scroll bar."""
MANY: Final = 13
"""Columns of a way, where there are more: each figure has its factor beside it."""


class CompareTable(Static):
    """Numbers are right-aligned and keep their columns while they change. A way has the colour of its curve."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, comparison: Comparison, rows: Sequence[Row]) -> None:
        """As much as there is room for. What is left out first: the spread of the factors, which the verdict says too,
        the counts of what was accepted, the factors, further ways."""
        name = max(len(row.name) for row in rows)
        room = self.screen.size.width - EDGES - name
        two = len(comparison.ways) == 2
        shown = comparison.ways if two else comparison.ways[: max(2, room // (2 + LEAST))]
        factors = two or room >= len(shown) * (2 + MANY)
        labels = [way.label for way in shown]
        if two:
            lines = self._of_two(labels, rows, name, room)
        else:
            width = MANY if factors else min(MANY, room // len(shown) - 2)
            cells = [self._of_many(row, name, width, len(shown), factors=factors) for row in rows]
            lines = [_titles(labels, name, width), *cells]
        if left := len(comparison.ways) - len(shown):
            lines.append(Content.styled(f"{many(left, 'more way')}: in a wider terminal", "$faint"))
        self.update(Content("\n").join(lines))

    def _of_two(self, labels: Sequence[str], rows: Sequence[Row], name: int, room: int) -> list[Content]:
        """The cells and, in a column of their own, the factors."""
        ratios = [ratio for row in rows for ratio in row.ratios if ratio is not None]
        whole = max((len(str(ratio)) for ratio in ratios), default=0)
        short = max((len(_short(ratio)) for ratio in ratios), default=0)
        cells = max(len(cell) for row in rows for cell in row.cells)
        spread = (room - GAP - whole) // 2 - 2 >= cells
        factor = max(whole if spread else short, len(FACTOR))
        widest = max(LEAST, (room - GAP - factor) // 2 - 2)
        labels = [clean_line(label, min(40, widest)) for label in labels]
        width = max(min(WIDTH, widest), *(len(label) for label in labels))
        head = Content.assemble(_titles(labels, name, width), (" " * GAP + FACTOR, "$faint"))
        return [head, *(self._line(row, name, width, spread=spread) for row in rows)]

    @staticmethod
    def _of_many(row: Row, name: int, width: int, ways: int, *, factors: bool) -> Content:
        """The factors in the cells; how far they spread is said in the sentences below."""
        line = Content.styled(f"{row.name:<{name}}", "$faint")
        ratios = (None, *row.ratios, *[None] * ways)
        for cell, ratio in zip(row.cells[:ways], ratios, strict=False):
            short = _without_counts(cell)
            factor = "" if ratio is None or not factors else f" {_short(ratio)}"
            padding = " " * (2 + width - len(short) - len(factor))
            style = "" if ratio is None else _style(ratio)
            line = Content.assemble(line, padding, (short, "$foreground"), (factor, style))
        return line

    @staticmethod
    def _line(row: Row, name: int, width: int, *, spread: bool) -> Content:
        shown = (cell if len(cell) <= width else _without_counts(cell) for cell in row.cells)
        cells = "".join(f"  {cell:>{width}}" for cell in shown)
        parts = [Content.styled(f"{row.name:<{name}}", "$faint"), Content.styled(cells, "$foreground")]
        for ratio in row.ratios:
            if ratio is not None:
                parts.append(Content.styled(" " * GAP + (str(ratio) if spread else _short(ratio)), _style(ratio)))
        return Content("").join(parts)


def _titles(labels: Sequence[str], name: int, width: int) -> Content:
    titles = ((f"  {_shortened(label, width):>{width}}", CURVES[at % len(CURVES)]) for at, label in enumerate(labels))
    return Content.assemble(" " * name, *titles)


def _shortened(label: str, width: int) -> str:
    """``look…:4`` of ``lookup:4``: ways that differ in their length only are still told apart."""
    name, colon, length = label.rpartition(":")
    if len(label) <= width or not colon:
        return clean_line(label, width)
    return f"{clean_line(name, max(1, width - 1 - len(length)))}:{length}"


def _without_counts(cell: str) -> str:
    """``81 %`` of ``81 % (52/64)``."""
    return cell.partition(" (")[0]


def _short(ratio: Ratio) -> str:
    """Without its spread."""
    return f"{ratio.median:.2f}x"


def _style(ratio: Ratio) -> str:
    if ratio.finding is Finding.MACHINE:
        return "$muted"
    return "$warning" if ratio.high < SLOWER else "$accent" if ratio.low > 1 else "$muted"
