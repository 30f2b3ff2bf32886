"""A thinking block: one row that says how long was thought, and the thought itself when somebody wants to see it."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app.clean import clean, clean_line
from app.tui.widgets.line import GAP, Line
from app.tui.xray import spans

TAIL: Final = 4_000
"""Characters of a live thought that are looked at: what a frame costs does not grow with the thought."""
TAIL_LINES: Final = 12


class ThoughtRow(Line):
    """``▸ thinking…  87 tokens   … the last line of it`` and, in the end, ``▸ thought for 212 tokens``."""

    class Toggled(Message):
        """Fold or unfold."""

    def __init__(self) -> None:
        super().__init__()
        self._sign, self._words, self._last = "▸", "", ""

    def show(self, words: str, last: str, *, unfolded: bool) -> None:
        state = ("▾" if unfolded else "▸", words, last)
        if state != (self._sign, self._words, self._last):
            self._sign, self._words, self._last = state
            self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.assemble((f"{self._sign} ", "$faint"), (self._words, "$muted"))
        room = width - left.cell_length - GAP
        if not self._last or room < 8:
            return left, Content()
        return Content.assemble(left, " " * GAP, (end_of(self._last, room), "$faint italic")), Content()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Toggled())


class Thought(Vertical):
    """Grows while it is ``feed``-ed; ``complete`` gives it its last words. Folded until it is toggled."""

    def __init__(self, text: str = "", tokens: int | None = None, *, live: bool = False) -> None:
        super().__init__()
        self.live = live
        self.unfolded = False
        self._text = text
        self._pieces: list[str] = []
        self._tail = ""
        self._tokens = tokens
        self._letters: str | None = None
        self._row = ThoughtRow()
        self._body = Static(markup=False, classes="thought-text")

    def compose(self) -> ComposeResult:
        yield self._row
        yield self._body

    def on_mount(self) -> None:
        self._body.display = False
        self._show()

    @property
    def text(self) -> str:
        """What was thought so far."""
        return self._text + "".join(self._pieces)

    def feed(self, piece: str) -> None:
        """More of it."""
        self._pieces.append(piece)
        self._tail = (self._tail + piece)[-TAIL:]

    def count(self, tokens: int | None) -> None:
        """How many tokens it has taken so far, None where that is not known; draws it."""
        self._tokens = tokens
        self._show()

    def end(self) -> None:
        """It is over, the answer goes on."""
        if self.live:
            self.live = False
            self._show()

    def complete(self, text: str, tokens: int | None) -> None:
        """Its whole text, and what it took as far as that is known."""
        self._text, self._tail, self.live = text, "", False
        self._pieces.clear()
        self._tokens = self._tokens if tokens is None else tokens
        self._show()

    def tint(self, letters: str | None) -> None:
        """Show who proposed it (:mod:`app.tui.xray`), or not."""
        self._letters = letters
        self._show()

    @on(ThoughtRow.Toggled)
    def toggle(self) -> None:
        """Fold or unfold."""
        self.unfolded = not self.unfolded
        self._show()

    def _show(self) -> None:
        if not self.is_attached:
            return
        last = self._tail.rstrip().rsplit("\n", 1)[-1] if self.live and not self.unfolded else ""
        self._row.show(self._words(), last, unfolded=self.unfolded)
        self._body.display = self.unfolded
        if self.unfolded:
            self._body.update(self._content())

    def _words(self) -> str:
        if self.live:
            return "thinking…" if self._tokens is None else f"thinking… {self._tokens:>4,} tokens"
        if self._tokens is None:
            return f"thought, {len(self.text):,} characters"
        return f"thought for {self._tokens:,} token{'' if self._tokens == 1 else 's'}"

    def _content(self) -> Content:
        if self.live:
            return Content("\n".join(clean(self._tail).split("\n")[-TAIL_LINES:]))
        content = Content(clean(self.text))
        return content if self._letters is None else content.add_spans(spans(self._letters))


def end_of(text: str, width: int) -> str:
    """The last words of a line that ``width`` cells hold, with ``…`` for what is left out."""
    line = clean_line(text, TAIL)
    if cell_len(line) <= width:
        return line
    before, line = line[:-width][-1:], line[-width:]
    while cell_len(line) > width - 1:
        before, line = line[0], line[1:]
    part, space, rest = line.partition(" ")
    if before != " " and space and 2 * cell_len(part) < width:  # not the end of a word, but its neighbour
        line = rest
    return f"…{line.lstrip()}"
