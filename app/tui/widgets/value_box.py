"""The line over a row of the settings in which a value is typed."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message

from app.tui.keys import VALUE
from app.tui.widgets.row_box import RowBox

LONGEST: Final = 20_000
"""Characters; a system prompt may be as long as that."""


class ValueBox(RowBox):
    """Hidden until :meth:`open`. Says :class:`Typed` or :class:`Left`."""

    BINDINGS: ClassVar[list[BindingType]] = [*VALUE]

    class Typed(Message):
        """The value that the setting shall have."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            self.value = value

    def __init__(self) -> None:
        super().__init__(LONGEST, select_on_focus=False)
        self._key = ""

    def open(self, key: str, value: str, at: Region, *, begun: str = "", hint: str = "") -> None:
        """Take the place ``at`` with ``value``, to be written over; ``begun``: what was typed of another one already;
        ``hint``: said while nothing stands there."""
        self._key, self.placeholder = key, hint
        self.begin(value, at, begun=begun)

    async def action_submit(self) -> None:
        value = self.value.strip()
        kept = not value or value == self.before
        self.post_message(self.Left() if kept else self.Typed(self._key, value))
