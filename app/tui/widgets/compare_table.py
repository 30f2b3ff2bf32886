"""The figures of a comparison, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from app.compare.conduct import Comparison
from app.compare.verdict import Ratio, Row
from app.receipt import SLOWER


class CompareTable(Static):
    """Numbers are right-aligned and keep their columns while they change."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, comparison: Comparison, rows: Sequence[Row]) -> None:
        labels = [way.label for way in comparison.ways]
        width = max(14, *(len(label) for label in labels))
        name = max(len(row.name) for row in rows)
        lines = [Content.styled(" " * name + "".join(f"  {label:>{width}}" for label in labels), "$muted")]
        lines += [self._line(row, name, width) for row in rows]
        self.update(Content("\n").join(lines))

    @staticmethod
    def _line(row: Row, name: int, width: int) -> Content:
        cells = "".join(f"  {cell:>{width}}" for cell in row.cells)
        parts = [Content.styled(f"{row.name:<{name}}", "$faint"), Content.styled(cells, "$foreground")]
        parts += [_ratio(ratio) for ratio in row.ratios if ratio is not None]
        return Content("").join(parts)


def _ratio(ratio: Ratio) -> Content:
    style = "$warning" if ratio.high < SLOWER else "$accent" if ratio.low > 1 else "$muted"
    return Content.styled(f"   {ratio}", style)
