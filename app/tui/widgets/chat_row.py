"""One row of the list of chats, laid out for a width."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from textual.content import Content

from app.chats.matching import marks
from app.chats.records import Conversation
from app.clean import clean, clean_line
from app.tui.dates import moment
from app.tui.widgets.line import split_line

MARK: Final = 2
"""Cells in front of a title."""
WHEN: Final = 11
"""Cells of the date at the right: ``12 Nov 2025``."""
PINNED: Final = "Pinned"


@dataclass(frozen=True, slots=True)
class Row:
    """A chat, or with ``chat=None`` a heading."""

    chat: Conversation | None
    heading: str = ""
    """Over a group of chats; of a chat: the one it stands under."""
    snippet: str = ""
    """What was found in it."""
    message: int | None = None
    """Where that stands."""

    @property
    def height(self) -> int:
        return 2 if self.snippet else 1


def title_line(row: Row, width: int, now: datetime, *, here: bool, elsewhere: bool, words: tuple[str, ...]) -> Content:
    """``● Rivers of Europe            open   14:02``. ``words``: what was searched for."""
    assert row.chat is not None
    name = clean_line(row.chat.title, 200)
    title = _marked(Content.styled(name, "$foreground"), name, words)
    left = Content.assemble(("● " if here else " " * MARK, "$accent"), title)
    where = Content.styled("open", "$accent") if here else Content()
    if elsewhere:
        where = Content.styled("open elsewhere", "$warning")
    when = moment(datetime.fromtimestamp(row.chat.updated), now, under=row.heading)
    return split_line(left, Content.assemble(where, (when.rjust(WHEN), "$muted")), width)


def snippet_line(row: Row, width: int, words: tuple[str, ...]) -> Content:
    """What was found, one weight below the title; the words that were searched for stand out."""
    text = clean(row.snippet)
    found = _marked(Content.styled(text, "$muted"), text, words)
    return Content.assemble(" " * (MARK + 2), found.truncate(max(0, width - MARK - 2), ellipsis=True))


def heading_line(heading: str) -> Content:
    return Content.styled(" " * MARK + clean_line(heading, 100), "$faint")


def _marked(content: Content, text: str, words: tuple[str, ...]) -> Content:
    for start, end in marks(text, words) if words else ():
        content = content.stylize("bold $accent", start, end)
    return content
