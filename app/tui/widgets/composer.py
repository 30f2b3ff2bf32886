"""Where the user writes: grows with the text, enter sends, a paste is one text."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea

from app.clean import clean_input
from app.tui.keys import COMPOSER

NEW_LINE_KEYS: Final = {"ctrl+j", "alt+enter", "shift+enter"}


class Composer(TextArea):
    """A text area for one message."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMPOSER]

    class Sent(Message):
        """Enter was pressed. Whoever takes the text calls :meth:`Composer.take`; otherwise it stays."""

    class Scrolled(Message):
        """A key for the transcript: ``page_up``, ``page_down``, ``home`` or ``end``."""

        def __init__(self, where: str) -> None:
            super().__init__()
            self.where = where

    def __init__(self) -> None:
        super().__init__(
            soft_wrap=True,
            compact=True,
            highlight_cursor_line=False,
            placeholder="type a message",
            id="composer",
        )
        self.cursor_blink = False  # no timer while nothing happens

    def take(self) -> str:
        """The text, and the composer is empty."""
        text = self.text
        self.load_text("")
        return text

    def give_back(self, text: str) -> None:
        """A message that was refused returns, before whatever was typed since."""
        self.text = f"{text}\n{self.text}" if self.text.strip() else text
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        """Before TextArea sees the key. Keys of NEW_LINE_KEYS come as bindings."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
        elif event.key in ("end", "ctrl+e") and self.cursor_at_end_of_text:
            self.post_message(self.Scrolled("end"))

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if result := self._replace_via_keyboard(clean_input(event.text), *self.selection):
            self.move_cursor(result.end_location)
            self.focus()

    def action_send(self) -> None:
        self.post_message(self.Sent())

    def action_new_line(self) -> None:
        if result := self._replace_via_keyboard("\n", *self.selection):
            self.move_cursor(result.end_location)

    def action_transcript(self, where: str) -> None:
        self.post_message(self.Scrolled(where))
