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

ROWS: Final = 8
NARROW: Final = 90


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
            self.set_options(Option(_row(one, min(left, 44), width)) for one in suggestions)
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
    gap = " " * max(2, left + 3 - name.cell_length)
    room = width - 6 - max(name.cell_length, left) - 3 - (len(one.key) + 2 if one.key else 0)
    help_text = Content.styled(clean_line(one.help, 120), "$muted").truncate(max(8, room), ellipsis=True)
    row = Content.assemble(name, gap, help_text)
    if one.key and width >= NARROW:
        row = Content.assemble(row, " " * max(2, width - 6 - row.cell_length - len(one.key)), (one.key, "$faint"))
    return row.truncate(width - 6, ellipsis=True)
