"""The product's signature: the figures under an answer, live in the same place, faint until the eye wants them.

Hovering a figure says what it means; a click opens the whole receipt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message

from app import receipt
from app.bars import sparkline
from app.receipt import Part
from app.tui.widgets.line import GAP, Line
from engine.stats import Stats

SPARK_CELLS: Final = 15
SLOWER: Final = "slower"
SPARK_LEAST: Final = 8
"""Cells of the speed over the answer: as many as there is room for, within these."""

_FIGURE: Final = re.compile(r"\d[\d.]*k?(?:/\d[\d.]*k?)?(?: %|x)?|\(\d+/\d+\)")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a row of some width holds; the same for every state of one answer."""

    parts: tuple[Part, ...]
    gap: str
    spark: int = 0
    """Cells of the sparkline at the right end."""
    narrow: bool = False

    @property
    def width(self) -> int:
        """Columns of the parts, as they are now."""
        return sum(len(part.text) for part in self.parts) + len(self.gap) * (len(self.parts) - 1)

    def within(self, width: int) -> Layout:
        """Without the last parts that ``width`` columns do not hold whole."""
        layout = self
        while len(layout.parts) > 1 and layout.width > width:
            layout = replace(layout, parts=layout.parts[:-1])
        return layout

    def close(self) -> Layout:
        """Without the blanks that keep its columns where they are."""
        return replace(self, parts=tuple(replace(part, text=" ".join(part.text.split())) for part in self.parts))

    def part_at(self, column: int) -> Part | None:
        """The figure that stands at ``column``."""
        start = 0
        for part in self.parts:
            if start <= column < start + len(part.text):
                return part
            start += len(part.text) + len(self.gap)
        return None


def fitted(stats: Stats, allowed: str, context: int, width: int) -> Layout:
    """The most that ``width`` columns show without ever moving while it counts: all words and the sparkline, fewer
    words, no sparkline, no context, and in the end the few figures that matter most."""
    full = receipt.parts(stats, allowed, context, steady=True)
    short = receipt.parts(stats, allowed, context, steady=True, short=True)
    least = tuple(part for part in short if part.figure != "context_used")
    spare = receipt.longest_drafter_word(allowed) - len(receipt.drafter_word(stats, allowed))
    for chosen, spark in ((full, True), (short, True), (full, False), (short, False), (least, True), (least, False)):
        layout = Layout(tuple(part for part in chosen if part.text), "  ")
        room = width - layout.width - spare
        if room >= (SPARK_LEAST + GAP if spark else 0):
            return replace(layout, spark=min(SPARK_CELLS, room - GAP) if spark else 0)
    return Layout(tuple(part for part in receipt.narrow(stats, allowed) if part.text), " · ", narrow=True)


class ReceiptLine(Line):
    """Shows what :func:`fitted` lets it."""

    class Opened(Message):
        """The whole receipt is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self._stats: Stats | None = None
        self._allowed = ""
        self._window = 0

    @property
    def stats(self) -> Stats | None:
        """The figures that are shown."""
        return self._stats

    def show(self, stats: Stats, allowed: str, context: int = 0) -> None:
        """Replace the figures. The row keeps its place and its columns. ``allowed``: who could propose; ``context``:
        its size, 0 when that is not known."""
        if stats != self._stats or allowed != self._allowed or context != self._window:
            self._stats, self._allowed, self._window = stats, allowed, context
            self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        if self._stats is None:
            return Content(), Content()
        layout = self._layout(self._stats, width)
        left = Content.styled(layout.gap, "$faint").join(
            weighted(part.text, warm=part.figure == "speedup" and receipt.is_slower(self._stats))
            for part in layout.parts
        )
        return left, self._end(self._stats, layout, width - left.cell_length - GAP)

    def _layout(self, stats: Stats, width: int) -> Layout:
        """What :func:`fitted` says, and room for the right end: no word is cut for it where blanks can go."""
        layout = fitted(stats, self._allowed, self._window, width)
        if layout.narrow and (factor := receipt.factor(stats)):
            return layout.within(width - len(factor) - GAP)
        if receipt.is_slower(stats) and width - layout.width - GAP < len(receipt.SLOWER_WORDS):
            return layout.close()
        return layout

    def _end(self, stats: Stats, layout: Layout, room: int) -> Content:
        """The right end: what grows or comes late, so that it moves nothing."""
        slower = receipt.is_slower(stats)
        if layout.narrow:
            words = receipt.factor(stats) + (f" {SLOWER}" if slower and room >= 12 else "")
            return weighted(words, warm=slower)
        sayable = [words for words in (receipt.SLOWER_WORDS, SLOWER) if slower and len(words) <= room]
        words = sayable[0] if sayable else ""  # the factor is warm in any case
        cells = min(layout.spark, room - len(words) - GAP) if words else layout.spark
        spark = sparkline(stats.pace, cells) if cells >= SPARK_LEAST else ""
        return Content("  ").join(part for part in (Content.styled(words, "$warning"), _bars(spark)) if part)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """What the figure under the pointer means."""
        self.tooltip = self._explain(event.x - self.gutter.left)

    def _explain(self, column: int) -> Content | None:
        if self._stats is None:
            return None
        width = self.content_size.width
        layout = self._layout(self._stats, width)
        part = layout.part_at(column)
        if part is None and layout.spark and column >= width - layout.spark:
            part = Part("pace", "speed over the answer")
        if part is None and layout.narrow and receipt.factor(self._stats) and column >= width - 12:
            part = Part("speedup", receipt.factor(self._stats))
        if part is None or not part.text.strip():
            return None
        words = " ".join(part.text.split())
        return Content.assemble(
            (words, "$foreground"), f"\n{part.definition}\n\n", ("click: the whole receipt", "$faint")
        )

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Opened())


def weighted(text: str, *, warm: bool = False) -> Content:
    """Figures one weight above the words around them; what is a loss is warm."""
    if warm:
        return Content.styled(text, "$warning")
    content = Content.styled(text, "$faint")
    for match in _FIGURE.finditer(text):
        content = content.stylize("$muted", match.start(), match.end())
    return content


def _bars(spark: str) -> Content:
    return Content.styled(spark, "$accent 55%") if spark else Content()
