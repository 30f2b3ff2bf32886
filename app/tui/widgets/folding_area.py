"""A text area for large and hostile texts: ``text`` is what was typed and pasted.

The document below it, which is drawn and edited, differs in two ways:

* a character that could steer the terminal is another one there (:mod:`app.tui.stand_ins`);
* a large paste is a short label there, which is deleted as a whole.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, Final

from rich.text import Text
from textual.document._document import EditResult, Location
from textual.strip import Strip
from textual.widgets import TextArea

from app.chats.records import Unsent
from app.tui.stand_ins import (
    DRAW,
    DROPPED,
    FOLDED,
    HIDE,
    LINE_END,
    OWN_CHARACTERS,
    RAW,
    SPECIAL,
    label_for,
)

FOLD_CHARACTERS: Final = 20_000
FOLD_LINES: Final = 400


class FoldingArea(TextArea):
    """See the module's text."""

    def __init__(self, **options: Any) -> None:
        """``options``: those of TextArea."""
        self._drawing = False
        self._pastes: dict[int, str] = {}  # by the number in the label; also deleted ones, for undo
        self._taken: tuple[str, str, dict[int, str]] = ("", "", {})  # text, document, pastes
        super().__init__(**options)

    # ---------------------------------------------------------------------------------------------------- the text

    @property
    def text(self) -> str:
        """What was typed and pasted."""
        if self._drawing:
            return "" if self.blank else " "
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

    @property
    def typed(self) -> str:
        """The text without what is folded."""
        document = self.document.text
        if document.isascii() or OWN_CHARACTERS.search(document) is None:
            return document
        return SPECIAL.sub(lambda match: " " if match[1] else RAW.get(match[0], "["), document)

    @property
    def bytes_written(self) -> int:
        """About how many bytes the text has, what is folded included; quicker than asking for the text."""
        document = self.document.text
        if document.isascii():
            return len(document)
        folded = (self._pastes.get(int(match[1]), "") for match in FOLDED.finditer(document))
        return len(document.encode("utf-8", "replace")) + sum(map(len, folded))

    @property
    def blank(self) -> bool:
        """Whether nothing at all stands here; quicker than asking for the text."""
        return self.document.line_count == 1 and not self.document.get_line(0)

    def _document_for(self, text: str, *, fold: bool = True) -> str:
        text = DROPPED.sub("", LINE_END.sub("\n", text))
        large = fold and (len(text) > FOLD_CHARACTERS or text.count("\n") >= FOLD_LINES)
        if not large and OWN_CHARACTERS.search(text) is None:
            return text.translate(HIDE)
        number = 1 + max(chain(self._pastes, self._taken[2]), default=0)
        self._pastes[number] = text
        return label_for(number, text)

    def _true(self, document: str) -> str:
        if document.isascii() or OWN_CHARACTERS.search(document) is None:
            return document

        def one(match: re.Match[str]) -> str:
            if match[1]:
                return self._pastes.get(int(match[1]), "")
            return RAW.get(match[0], "[")

        return SPECIAL.sub(one, document)

    # ------------------------------------------------------------------------------------------------ away and back

    def unsent(self) -> Unsent:
        """What stands here, pastes apart."""
        parts: list[str | int] = []
        document, at = self.document.text, 0
        for match in FOLDED.finditer(document):
            parts += [self._true(document[at : match.start()]), int(match[1])]
            at = match.end()
        parts.append(self._true(document[at:]))
        pastes = {part: self._pastes.get(part, "") for part in parts if isinstance(part, int)}
        return Unsent(tuple(part for part in parts if part != ""), pastes)

    def restore(self, unsent: Unsent) -> None:
        """Put back what :meth:`unsent` gave, in this process or in another one."""
        taken = self._taken[2]
        taken_to = max(taken, default=0)
        numbers = {n: n if taken.get(n, text) == text else n + taken_to for n, text in unsent.pastes.items()}
        self._pastes = {numbers[n]: text for n, text in unsent.pastes.items()}
        document = "".join(
            label_for(numbers[part], unsent.pastes[part])
            if isinstance(part, int)
            else self._document_for(part, fold=False)
            for part in unsent.parts
        )
        super().load_text(document)
        self.move_cursor(self.document.end)

    def take(self) -> str:
        """The text, and nothing stands here any more."""
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

    # ------------------------------------------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """TextArea asks for the text with every line it draws, only to see whether there is any: in a document of
        thousands of lines that would take longer than everything else."""
        self._drawing = True
        try:
            return super().render_line(y)
        finally:
            self._drawing = False

    def get_line(self, line_index: int) -> Text:
        """The line as it is drawn, as long as it is in the document."""
        line = super().get_line(line_index)
        if OWN_CHARACTERS.search(line.plain):
            line.plain = line.plain.translate(DRAW)
        return line

    # ------------------------------------------------------------------------------------------------------ editing

    def put(self, text: str, start: Location, end: Location) -> None:
        """Put ``text`` in the place of what stands from ``start`` to ``end``; can be undone."""
        if result := self._replace_via_keyboard(text.translate(HIDE), start, end):
            self.move_cursor(result.end_location)

    def insert_text(self, text: str) -> None:
        """Put ``text`` in the place of the selection."""
        if result := self._replace_via_keyboard(self._document_for(text), *self.selection):
            self.move_cursor(result.end_location)

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
            for label in FOLDED.finditer(self.document.get_line(row)):
                if label.start() < column < label.end():
                    return (row, label.start()), (row, label.end())
        return location, location

    def action_cut(self) -> None:
        result = self._delete_cursor_line() if self.selection.is_empty else self._delete_via_keyboard(*self.selection)
        if result is not None:
            self.app.copy_to_clipboard(self._true(result.replaced_text))

    def action_paste(self) -> None:
        self.insert_text(self.app.clipboard)
