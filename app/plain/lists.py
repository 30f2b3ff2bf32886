"""What is printed when somebody asks what there is: commands, chats, and what was said."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.clean import clean_line
from app.tui import commands, dates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.chats.records import Conversation
    from app.tui.surface import Surface

LISTED: Final = 30
"""Chats that are listed at once."""
KEYS: Final = (
    "Ctrl+C stops an answer; at the prompt, Ctrl+D or a second Ctrl+C ends. A line that ends with a backslash goes on "
    'with the next one; lines between two lines of """ are one message. //name sends /name.'
)


def command_lines(surface: Surface) -> list[str]:
    """Every command that this kind of chat has, whether it can do something now or not."""
    known = [command for command in commands.registry().values() if command.is_for(surface)]
    return [*(f"{_typed(command)}: {command.help}" for command in known), KEYS]


def _typed(command: commands.Command) -> str:
    return f"/{command.name} {command.words}" if command.words else f"/{command.name}"


def chat_lines(chats: Sequence[Conversation], here: int, elsewhere: frozenset[int]) -> list[str]:
    """``1: Rivers of Europe, 14:02, open here``, in the order that ``/open`` counts in."""
    now = dates.now()
    return [f"{number}: {_chat(chat, now, here, elsewhere)}" for number, chat in enumerate(chats, start=1)]


def _chat(chat: Conversation, now: datetime, here: int, elsewhere: frozenset[int]) -> str:
    words = [clean_line(chat.title, 80), _when(datetime.fromtimestamp(chat.updated), now)]
    if chat.pinned:
        words.append("pinned")
    if chat.id == here:
        words.append("open here")
    elif chat.id in elsewhere:
        words.append("open in another Slipstream")
    return ", ".join(words)


def _when(when: datetime, now: datetime) -> str:
    """``today 14:02``, ``yesterday 9:15``, ``Mon``, ``12 Nov``."""
    day = dates.heading(when, now)
    return f"{day.lower()} {when:%H:%M}" if day in (dates.TODAY, dates.YESTERDAY) else dates.moment(when, now)
