"""The line over a row in which a chat gets another title."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.binding import BindingType
from textual.geometry import Region, Spacing
from textual.message import Message

from app.clean import clean_line
from app.tui.keys import NAME
from app.tui.widgets.chat_row import MARK
from app.tui.widgets.row_box import RowBox

LONGEST: Final = 200


class NameBox(RowBox):
    """Hidden until :meth:`open`. Says :class:`Named` or :class:`Left`."""

    BINDINGS: ClassVar[list[BindingType]] = [*NAME]

    class Named(Message):
        """The title that the chat shall have."""

        def __init__(self, conversation: int, title: str) -> None:
            super().__init__()
            self.conversation = conversation
            self.title = title

    def __init__(self) -> None:
        super().__init__(LONGEST)
        self._conversation = 0

    def open(self, conversation: int, title: str, at: Region) -> None:
        """Take the place of the row ``at``, with its title to be written over."""
        self._conversation = conversation
        self.begin(title, at.shrink(Spacing(left=MARK)))

    async def action_submit(self) -> None:
        title = clean_line(self.value, LONGEST)
        kept = not title or title == self.before
        self.post_message(self.Left() if kept else self.Named(self._conversation, title))
