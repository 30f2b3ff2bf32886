"""Which rows the list of chats has: all of them by date, or what a search has found."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from app.tui import dates
from app.tui.widgets.chat_row import PINNED, Row

if TYPE_CHECKING:
    from app.chats.records import Conversation, Hit


def dated_rows(chats: Iterable[Conversation], now: datetime) -> Iterable[Row]:
    """The chats under headings: pinned ones, then by day and month."""
    before = ""
    for chat in chats:
        section = PINNED if chat.pinned else dates.heading(datetime.fromtimestamp(chat.updated), now)
        if section != before:
            before = section
            yield Row(None, section)
        yield Row(chat, section)


def found_rows(hits: Iterable[Hit]) -> list[Row]:
    """The results of a search, each with the place that was found."""
    return [Row(hit.conversation, snippet=hit.snippet, message=hit.message) for hit in hits]
