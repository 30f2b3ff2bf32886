"""Commands that do something to a single turn: the selected one, or without a selection the last answer or message."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from app.tui.commands import Command, RefusedError

if TYPE_CHECKING:
    from app.tui.surface import Surface


def command(name: str, title: str, help_text: str, deed: str) -> Command:
    """The command that does ``deed`` (see ``TurnScreen.do``), as the key of a selected turn does."""

    def perform(screen: Surface, argument: str) -> Awaitable[None] | None:
        return screen.action_turn(deed)

    def why_not(screen: Surface) -> str:
        return screen.why_not(deed)

    return Command(
        name,
        title,
        help_text,
        perform,
        key=_key(deed),
        available=lambda screen: not why_not(screen),
        why_not=why_not,
        where="both",
    )


def copy_code(name: str) -> Command:
    """The command that copies a code block, by default the first one."""

    def perform(screen: Surface, argument: str) -> None:
        number = _number(argument) if argument else 1
        if number is None:
            raise RefusedError(f"/{name} takes the number of a code block: /{name} 2.")
        if reason := screen.why_not("block", number):
            raise RefusedError(reason)
        screen.action_turn("block", number)

    def why_not(screen: Surface) -> str:
        return screen.why_not("block", 1)

    return Command(
        name,
        "Copy code",
        "the first code block of an answer, or another one",
        perform,
        "[NUMBER]",
        _key("block"),
        available=lambda screen: not why_not(screen),
        why_not=why_not,
        instead="/copy copies the whole answer, /save writes it into a file.",
    )


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 4 and int(word) else None


def _key(deed: str) -> str:
    """What is pressed for it: one key selects a turn, ``alt+↑``, and one does it, ``r``."""
    return f"chat.select_up turn.{deed}"
