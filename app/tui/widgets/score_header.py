"""The first row of a scorecard: which pair it is about, and how far the measuring is."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.compare.bench import Bench
from app.tui.widgets.line import Line

CELLS: Final = 12


class ScoreHeader(Line):
    """``score · SmolLM2-135M + lookup      run 5/48  ▇▇▁▁▁▁  chat, lookup  0:14 left``."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = clean_line(title, 80)
        self._right = Content()

    def show(self, bench: Bench, doing: str, *, over: bool) -> None:
        """``doing``: what is being measured, or how it ended."""
        self._right = Content.styled(doing, "$muted") if over or not bench.runs_made else _progress(bench, doing)
        self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.assemble(("score", "bold $accent"), (" · ", "$faint"), (self._title, "$foreground"))
        return left, self._right


def _progress(bench: Bench, doing: str) -> Content:
    filled = round(bench.runs_made / bench.runs_wanted * CELLS)
    left = bench.seconds_left
    time = "" if left is None else f"  {int(left) // 60}:{int(left) % 60:02} left"
    return Content.assemble(
        (f"{doing}  ", "$faint"),
        (f"run {min(bench.runs_made + 1, bench.runs_wanted)}/{bench.runs_wanted}  ", "$muted"),
        ("▇" * filled, "$accent"),
        ("▁" * (CELLS - filled), "$rule"),
        (time, "$muted"),
    )
