"""The line over a row of the settings in which a value is typed."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Input

from app.clean import clean_line
from app.tui.keys import VALUE

LONGEST: Final = 20_000
"""Characters; a system prompt may be as long as that."""


class ValueBox(Input):
    """Hidden until :meth:`open`. Says :class:`Typed` or :class:`Left`."""

    BINDINGS: ClassVar[list[BindingType]] = [*VALUE]

    class Typed(Message):
        """The value that the setting shall have."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            self.value = value

    class Left(Message):
        """The value stays."""

    def __init__(self) -> None:
        super().__init__(compact=True, max_length=LONGEST, select_on_focus=False)
        self._key = ""
        self._before = ""

    def on_mount(self) -> None:
        self.display = False

    def open(self, key: str, value: str, at: Region, *, begun: str = "", hint: str = "") -> None:
        """Take the place ``at`` with ``value``, to be written over; ``begun``: what was typed of another one already;
        ``hint``: said while nothing stands there."""
        self._key, self._before = key, clean_line(value, LONGEST)
        self.placeholder = hint
        self.value = begun or self._before
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
        self.replace(clean_line(event.text, LONGEST), *self.selection)

    async def action_submit(self) -> None:
        value = self.value.strip()
        kept = not value or value == self._before
        self.post_message(self.Left() if kept else self.Typed(self._key, value))

    def action_close(self) -> None:
        self.post_message(self.Left())

    def on_blur(self) -> None:
        if self.display:
            self.post_message(self.Left())
