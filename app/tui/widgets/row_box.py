"""The line over a row in which something is written anew."""

from __future__ import annotations

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Input

from app.clean import clean_line


class RowBox(Input):
    """Hidden until :meth:`begin`. Says :class:`Left` when all stays as it was."""

    class Left(Message):
        """What was there stays."""

    def __init__(self, longest: int, *, select_on_focus: bool = True) -> None:
        super().__init__(compact=True, max_length=longest, select_on_focus=select_on_focus)
        self.longest = longest
        self.before = ""
        """What was there."""

    def on_mount(self) -> None:
        self.display = False

    def begin(self, before: str, at: Region, *, begun: str = "") -> None:
        """Take the place ``at`` with ``before``, to be written over; ``begun``: what was typed of another text
        already."""
        self.before = clean_line(before, self.longest)
        self.value = begun or self.before
        self.move_to(at)
        self.display = True
        self.screen.set_focus(self)  # now, before the next key: focus() would come later
        if begun:
            self.cursor_position = len(begun)
        else:
            self.select_all()

    def move_to(self, at: Region) -> None:
        """Take the place ``at``."""
        self.styles.offset = (at.x, at.y)
        self.styles.width = at.width

    def close(self) -> None:
        self.display = False

    def _on_paste(self, event: events.Paste) -> None:
        """As one cleaned line: Input would take control codes as they come."""
        event.stop()
        event.prevent_default()
        self.replace(clean_line(event.text, self.longest), *self.selection)

    def action_close(self) -> None:
        self.post_message(self.Left())

    def on_blur(self) -> None:
        if self.display:
            self.post_message(self.Left())
