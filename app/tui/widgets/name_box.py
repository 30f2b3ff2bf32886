"""The line over a row in which a chat gets another title."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Input

from app.clean import clean_line
from app.tui.keys import NAME
from app.tui.widgets.chat_row import MARK

LONGEST: Final = 200


class NameBox(Input):
    """Hidden until :meth:`open`. Says :class:`Named` or :class:`Left`."""

    BINDINGS: ClassVar[list[BindingType]] = [*NAME]

    class Named(Message):
        """The title that the chat shall have."""

        def __init__(self, conversation: int, title: str) -> None:
            super().__init__()
            self.conversation = conversation
            self.title = title

    class Left(Message):
        """The title stays."""

    def __init__(self) -> None:
        super().__init__(compact=True, max_length=LONGEST)
        self._conversation = 0
        self._before = ""

    def on_mount(self) -> None:
        self.display = False

    def open(self, conversation: int, title: str, at: Region) -> None:
        """Take the place of the row ``at``, with its title to be written over."""
        self._conversation, self._before = conversation, clean_line(title, LONGEST)
        self.value = self._before
        self.styles.offset = (at.x + MARK, at.y)
        self.styles.width = at.width - MARK
        self.display = True
        self.screen.set_focus(self)  # now, before the next key: focus() would come later
        self.select_all()

    def close(self) -> None:
        self.display = False

    def _on_paste(self, event: events.Paste) -> None:
        """As one cleaned line: Input would take control codes as they come."""
        event.stop()
        event.prevent_default()
        self.replace(clean_line(event.text, LONGEST), *self.selection)

    async def action_submit(self) -> None:
        title = clean_line(self.value, LONGEST)
        kept = not title or title == self._before
        self.post_message(self.Left() if kept else self.Named(self._conversation, title))

    def action_close(self) -> None:
        self.post_message(self.Left())

    def on_blur(self) -> None:
        if self.display:
            self.post_message(self.Left())
