"""The first row of a comparison: what is asked, and how far it is."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.compare.conduct import Comparison
from app.compare.ways import Way
from app.receipt_words import many
from app.tui.widgets.line import Line

CELLS: Final = 12


class CompareHeader(Line):
    """``compare · "Summarize the text"        run 2/6  ▇▇▇▇▁▁▁▁  0:14 left``."""

    DEFAULT_CSS = "CompareHeader { padding: 0 1; }"

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = clean_line(question, 120)
        self._right = Content()

    def show(self, comparison: Comparison, warming: Way | None, *, over: bool) -> None:
        self._right = progress(comparison, warming, over=over)
        self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.assemble(("compare", "bold $accent"), (" · ", "$faint"), (f"“{self._question}”", "$foreground"))
        return left, self._right


def progress(comparison: Comparison, warming: Way | None, *, over: bool) -> Content:
    """How far a comparison is."""
    wanted = comparison.repetitions * len(comparison.ways)
    if over:
        words = "stopped" if comparison.stopped else "done"
        return Content.styled(f"{words}, {many(comparison.rounds, 'run')} of each way", "$muted")
    if warming is not None or not comparison.runs:
        return Content.styled(f"warming up {warming.label if warming else ''}".rstrip(), "$muted")
    filled = round(comparison.done * CELLS)
    left = comparison.seconds_left
    time = "" if left is None else f"  {int(left) // 60}:{int(left) % 60:02} left"
    return Content.assemble(
        (f"run {len(comparison.runs)}/{wanted}  ", "$muted"),
        ("▇" * filled, "$accent"),
        ("▁" * (CELLS - filled), "$rule"),
        (time, "$muted"),
    )
