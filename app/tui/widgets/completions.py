"""What the word at the cursor may become: a list above the composer, which keeps the focus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.suggestion import Suggestion as Suggestion
from app.tui.whole_words import whole_words
from app.tui.widgets.picker import EDGES

ROWS: Final = 8
NARROW: Final = 90
"""Columns of a terminal from which on keys are shown."""
GAP: Final = 3
LEAST: Final = 24
"""Columns for what a suggestion does."""


class Completions(OptionList, can_focus=False):
    """Hidden unless there is something to suggest. Speaks :class:`Picked` when a row is clicked."""

    class Picked(Message):
        """A row was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    suggestions: tuple[Suggestion, ...] = ()

    def __init__(self) -> None:
        super().__init__(compact=True, markup=False)
        self.display = False

    def offer(self, suggestions: Sequence[Suggestion], highlighted: int | None) -> None:
        """Show the rows; none: the list goes."""
        if tuple(suggestions) != self.suggestions:
            self.suggestions = tuple(suggestions)
            width = self.app.size.width
            left = max((_left_width(one) for one in suggestions), default=0)
            self.set_options(Option(_row(one, min(left, 44, width // 3), width)) for one in suggestions)
        self.display = bool(suggestions)
        self.highlighted = highlighted
        if highlighted is not None:
            self.scroll_to_highlight()

    def move(self, by: int) -> None:
        """Highlight the next row, or the one before; from the last to the first."""
        count = len(self.suggestions)
        now = self.highlighted
        self.highlighted = (0 if by > 0 else count - 1) if now is None else (now + by) % count

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Picked(event.option_index))


def _left_width(one: Suggestion) -> int:
    return Content(clean_line(one.shown, 60)).cell_length + (len(one.words) + 1 if one.words else 0)


def _row(one: Suggestion, left: int, width: int) -> Content:
    name = Content.assemble(clean_line(one.shown, 60), (f" {one.words}" if one.words else "", "$faint"))
    if not one.help:
        return name
    key = one.key if width >= NARROW else ""
    room = width - EDGES - (len(key) + 2 if key else 0) - GAP
    if room - max(name.cell_length, left) < LEAST:  # what can stand behind it is offered once it is chosen
        name = Content(clean_line(one.shown, 60))
    gap = " " * max(2, left + GAP - name.cell_length)
    words = whole_words(clean_line(one.help, 120), max(8, room - max(name.cell_length, left)))
    row = Content.assemble(name, gap, (words, "$muted"))
    if key:
        row = Content.assemble(row, " " * max(2, width - EDGES - row.cell_length - len(key)), (key, "$faint"))
    return row.truncate(width - EDGES, ellipsis=True)
