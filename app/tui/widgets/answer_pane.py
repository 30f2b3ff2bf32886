"""One way's answer in a comparison: its text while it comes, and from where on it differs from the first way's (the
first way's: from any other's)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from app.clean import clean, clean_line
from app.compare.runs import Run
from app.receipt import drafter_word

_SPACE: Final = re.compile(r"\s")


Layout = tuple[int | None, Size, Size, int]


class AnswerPane(VerticalScroll, can_focus=False):
    """Follows the end of its text while that is made, until it is scrolled by hand. What differs between the first pane
    and another is warm in both."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = clean_line(label, 40)
        self.fork: int | None = None
        """The first character in which it differs from another; None: in none."""
        self.moved = False
        """Whether somebody scrolled it."""
        self._text, self._follows = "", False

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self._label, "bold $accent"), classes="way", markup=False)
        yield Static(classes="text", markup=False)

    @property
    def ready(self) -> bool:
        """Whether its text can be shown: it cannot while the pane is made, or taken away."""
        return self.is_mounted and bool(self.query(".text"))

    def show(self, run: Run | None, others: Sequence[Run | None], *, current: bool, follow: bool = True) -> None:
        """The text of ``run``, held against ``others``; ``current``: it is being made now, and ``follow``ed."""
        self.fork, self._text, self._follows = None, "", current and follow
        way = Content.styled(self._label, "bold $accent")
        if run is not None and run.drafter:
            who = "" if run.drafter == "none" else f"  {drafter_word(run.stats, run.drafter)}"
            way = Content.assemble(way, (who, "$faint"), ("  writing…" if current else "", "$faint"))
        self.query_one(".way", Static).update(way)
        if run is None:
            self.query_one(".text", Static).update("")
            return
        self._text = text = clean(run.text)
        forks = [fork for other in others if other is not None and (fork := differs_at(run, other)) is not None]
        self.fork = min(forks, default=None)
        place = len(text) if self.fork is None else self.fork
        content = Content.assemble(
            (text[:place], "$foreground"), (text[place:], "$differing"), ("▍" if current else "", "$accent")
        )
        self.query_one(".text", Static).update(content)
        if self._follows:  # not by an anchor: that puts a short text at the bottom
            self.call_after_refresh(self._to_the_end)

    def _to_the_end(self) -> None:
        if self._follows and not self.moved:  # the answer may have ended meanwhile, and rest elsewhere
            self.scroll_end(animate=False, immediate=True)

    def row_of(self, place: int) -> int:
        """The row of its virtual region in which the word around this character of the text ends."""
        text = self.query_one(".text")
        word = _SPACE.search(self._text, place)
        rows = Content(self._text[: word.start() if word else None]).get_height({}, max(1, text.content_size.width))
        return text.virtual_region.y + max(0, rows - 1)

    @property
    def layout_at(self) -> Layout:
        """What a row of the text depends on."""
        return self.fork, self.query_one(".text").content_size, self.virtual_size, self.room

    @property
    def room(self) -> int:
        """Rows that are in view."""
        return self.scrollable_content_region.height

    def scroll_by_hand(self, where: str) -> None:
        """``up`` or ``down``, by a row."""
        self._was_moved()
        getattr(self, f"scroll_{where}")(animate=False)

    def on_mouse_scroll_up(self) -> None:
        self._was_moved()

    def on_mouse_scroll_down(self) -> None:
        self._was_moved()

    def on_scroll_up(self) -> None:
        self._was_moved()

    def on_scroll_down(self) -> None:
        self._was_moved()

    def on_scroll_to(self) -> None:
        self._was_moved()

    def _was_moved(self) -> None:
        """By the wheel, or by its scroll bar."""
        self.moved = self.moved or self.max_scroll_y > 0


def rest_at_difference(panes: Sequence[AnswerPane]) -> None:
    """Show the first difference of the ``panes``, in the same row of all of them, as far as nobody scrolled them. A
    third of the room is left to what stands before it, or more where a text ends soon behind it."""
    panes = [pane for pane in panes if pane.display]  # a narrow screen shows two of them
    forks = [pane.fork for pane in panes if pane.fork is not None]
    if not forks:
        return
    rows = [pane.row_of(min(forks)) for pane in panes]
    behind = [row - pane.max_scroll_y for pane, row in zip(panes, rows, strict=True)]
    before = min(max(panes[0].room // 3, *behind), *rows)
    for pane, row in zip(panes, rows, strict=True):
        if not pane.moved:
            pane.scroll_to(y=row - before, animate=False, immediate=True)


def differs_at(one: Run, other: Run) -> int | None:
    """The first character in which two texts differ; None: in none. A text that is not whole yet does not differ by
    where it ends."""
    texts = clean(one.text), clean(other.text)
    place = common(*texts)
    ends = place == min(map(len, texts))
    return None if texts[0] == texts[1] or (ends and not (one.whole and other.whole)) else place


def common(one: str, other: str) -> int:
    """Characters that two texts share from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (here, there) in pairs if here != there), min(len(one), len(other)))
