"""Where the user writes: grows with the text, enter sends, a paste is one text.

``text`` is what was typed and pasted, and what is sent. The document below it, which is drawn and edited, differs in
two ways:

* a character that could steer the terminal, or that the document would take for a line end, is one private-use
  character there, drawn as its stand-in;
* a large paste is a short label there, which is deleted as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.document._document import EditResult, Location
from textual.message import Message
from textual.widgets import TextArea

from app.clean import clean
from app.tui.keys import COMPOSER

NEW_LINE_KEYS: Final = {"ctrl+j", "alt+enter", "shift+enter"}
FOLD_CHARACTERS: Final = 20_000
FOLD_LINES: Final = 400

_LINE_END: Final = re.compile(r"\r\n?")
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")  # neither can be stored
_OWN: Final = 0x10FE00
_LABEL: Final = chr(0x10FFFD)
"""The first character of a label, drawn as ``[``: what the user types is never taken for one."""
_SUSPECTS: Final = [
    character
    for character in map(
        chr, chain(range(0x01, 0xA0), range(0x2000, 0x2070), range(0xFFF0, 0xFFFD), range(0xE0000, 0xE0080))
    )
    if clean(character) != character
]
_HIDE: Final = {ord(character): chr(_OWN + n) for n, character in enumerate(_SUSPECTS)}
_RAW: Final = {hidden: chr(code) for code, hidden in _HIDE.items()}
_DRAW: Final = {ord(hidden): clean(raw).replace("\n", "\u2424") for hidden, raw in _RAW.items()} | {ord(_LABEL): "["}
_OWN_CHARACTERS: Final = re.compile(f"[{chr(_OWN)}-{_LABEL}]")
_FOLDED: Final = re.compile(rf"{_LABEL}pasted [\d,]+ characters?, [\d,]+ lines? #(\d+)\]")
_SPECIAL: Final = re.compile(f"{_FOLDED.pattern}|{_OWN_CHARACTERS.pattern}")


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
        self._pastes: dict[int, str] = {}  # by the number in the label; also deleted ones, for undo
        self._taken: tuple[str, str, dict[int, str]] = ("", "", {})  # text, document, pastes
        super().__init__(
            soft_wrap=True,
            compact=True,
            highlight_cursor_line=False,
            placeholder="type a message",
            id="composer",
        )
        self.cursor_blink = False  # no timer while nothing happens

    # ---------------------------------------------------------------------------------------------------- the text

    @property
    def text(self) -> str:
        """What was typed and pasted."""
        return self._true(self.document.text)

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    def load_text(self, text: str) -> None:
        self._pastes = {}
        super().load_text(self._document_for(text))

    @property
    def selected_text(self) -> str:
        return self._true(super().selected_text)

    def take(self) -> str:
        """The text, and the composer is empty."""
        text = self.text
        self._taken = (text, self.document.text, self._pastes)
        self.load_text("")
        return text

    def give_back(self, text: str) -> None:
        """A message that was refused returns, before whatever was typed since."""
        since = self.document.text
        if text == self._taken[0]:
            document, pastes = self._taken[1:]
            self._pastes = {**pastes, **self._pastes}
        else:
            document = self._document_for(text)
        super().load_text(f"{document}\n{since}" if since.strip() else document)
        self.move_cursor(self.document.end)

    def insert_text(self, text: str) -> None:
        """Put ``text`` in the place of the selection."""
        if result := self._replace_via_keyboard(self._document_for(text), *self.selection):
            self.move_cursor(result.end_location)

    def _document_for(self, text: str) -> str:
        text = _DROPPED.sub("", _LINE_END.sub("\n", text))
        large = len(text) > FOLD_CHARACTERS or text.count("\n") >= FOLD_LINES
        if not large and _OWN_CHARACTERS.search(text) is None:
            return text.translate(_HIDE)
        number = 1 + max(chain(self._pastes, self._taken[2]), default=0)
        self._pastes[number] = text
        characters, lines = len(text), text.count("\n") + 1
        return (
            f"{_LABEL}pasted {characters:,} character{'s' * (characters != 1)}, "
            f"{lines:,} line{'s' * (lines != 1)} #{number}]"
        )

    def _true(self, document: str) -> str:
        def one(match: re.Match[str]) -> str:
            if match[1]:
                return self._pastes.get(int(match[1]), "")
            return _RAW.get(match[0], "[")

        return _SPECIAL.sub(one, document)

    def get_line(self, line_index: int) -> Text:
        """The line as it is drawn, as long as it is in the document."""
        line = super().get_line(line_index)
        if _OWN_CHARACTERS.search(line.plain):
            line.plain = line.plain.translate(_DRAW)
        return line

    # ------------------------------------------------------------------------------------------------------ editing

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(insert, *self._around_labels(start, end))

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        return super()._delete_via_keyboard(*self._around_labels(start, end))

    def _around_labels(self, start: Location, end: Location) -> tuple[Location, Location]:
        """The range without half a label: a label goes as a whole, and nothing is written into one."""
        start, end = sorted((start, end))
        if start == end:
            _, after = self._label_at(start)
            return after, after
        return self._label_at(start)[0], self._label_at(end)[1]

    def _label_at(self, location: Location) -> tuple[Location, Location]:
        """Both ends of the label that ``location`` is inside of, or ``location`` itself."""
        row, column = location
        if row < self.document.line_count:
            for label in _FOLDED.finditer(self.document.get_line(row)):
                if label.start() < column < label.end():
                    return (row, label.start()), (row, label.end())
        return location, location

    def action_cut(self) -> None:
        result = self._delete_cursor_line() if self.selection.is_empty else self._delete_via_keyboard(*self.selection)
        if result is not None:
            self.app.copy_to_clipboard(self._true(result.replaced_text))

    def action_paste(self) -> None:
        self.insert_text(self.app.clipboard)

    # --------------------------------------------------------------------------------------------------------- keys

    async def _on_key(self, event: events.Key) -> None:
        """Before TextArea sees the key. Keys of NEW_LINE_KEYS come as bindings."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
        elif event.key in ("end", "ctrl+e") and self.cursor_at_end_of_text:
            self.post_message(self.Scrolled("end"))
        elif event.character and not event.is_printable and not _is_control(event.character):
            event.stop()
            event.prevent_default()
            self.insert_text(event.character)  # joiners, no-break spaces, characters newer than Python's tables

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text(event.text)
        self.focus()

    def action_send(self) -> None:
        self.post_message(self.Sent())

    def action_new_line(self) -> None:
        self.insert_text("\n")

    def action_transcript(self, where: str) -> None:
        self.post_message(self.Scrolled(where))


def _is_control(text: str) -> bool:
    return any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
