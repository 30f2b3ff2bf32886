"""The line to search in: enter opens what is highlighted, down goes to the list."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from app.tui.keys import SEARCH
from app.tui.widgets.filter_box import FilterBox


class SearchBox(FilterBox):
    """A FilterBox that says :class:`Opened` at enter."""

    BINDINGS: ClassVar[list[BindingType]] = [*SEARCH]

    class Opened(Message):
        """What is highlighted is what was searched for."""

    def __init__(self) -> None:
        super().__init__("words that were said, or a part of a title")

    def action_open(self) -> None:
        self.post_message(self.Opened())
