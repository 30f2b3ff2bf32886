"""What there is to say about the highlighted entry, below the list."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.clean import clean
from app.library.records import Fact

STYLES: Final = {"plain": "$muted", "good": "$foreground", "warn": "$warning"}


class Facts(VerticalScroll, can_focus=False):
    """Labels at the left, sentences at the right."""

    _facts: Sequence[Fact] = ()
    _about = ""

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    @property
    def text(self) -> str:
        """What there is to read, one line a fact."""
        return lines(self._facts, 10_000).plain

    def show(self, facts: Sequence[Fact], about: str = "") -> None:
        """Replace what stands there. ``about``: of which entry; what is new about the same one scrolls nothing."""
        again, self._about = bool(about) and about == self._about, about
        self._facts = facts
        self._draw()
        if not again:
            self.scroll_home(animate=False)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.query_one(Static).update(lines(self._facts, self.scrollable_content_region.width))


def lines(facts: Sequence[Fact], width: int) -> Content:
    """The facts in ``width`` cells: a text folds under itself, not under its label."""
    indent = max((len(fact.label) for fact in facts), default=0) + 2
    rows: list[Content] = []
    for fact in facts:
        label = fact.label
        for text in clean(fact.text).split("\n"):
            for line in textwrap.wrap(text, max(20, width - indent)) or [""]:
                rows.append(Content.assemble((label.ljust(indent), "$faint"), (line, STYLES[fact.tone])))
                label = ""
    return Content("\n").join(rows)
