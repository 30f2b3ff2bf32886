"""Everything that can be done by a word: typed behind a slash, chosen in the palette, or by its key. One code for all.

A line is a command when it is the only one and looks like ``/name`` or ``/name argument``; any other text is a
message, ``/usr/bin/env`` as well as a pasted script. ``//name`` sends ``/name``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from app.clean import clean_line
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.surface import Surface

LINE: Final = re.compile(r"/(?P<name>[a-z-]*)(?: (?P<argument>.*))?\Z")
OF_ACTION: Final = "action:"
_ESCAPED: Final = re.compile(r"/{2,}[a-z][a-z-]*(?: .*)?\Z")

Run = Callable[["Surface", str], Awaitable[None] | None]
Complete = Callable[["Surface"], Sequence[Suggestion]]


class RefusedError(Exception):
    """A command that is not done, and why, in a sentence. What was typed stays."""


@dataclass(frozen=True)
class Command:
    """One thing that can be done."""

    name: str
    title: str
    """In the palette."""
    help: str
    run: Run
    words: str = ""
    """What is typed behind it: ``off|lookup|draft|auto``; empty: nothing."""
    key: str = ""
    """The key that does the same, by its id in app/tui/keys.py; ids of several that are pressed one after the other. Or
    what :func:`key_of` says."""
    complete: Complete = lambda screen: ()
    available: Callable[[Surface], bool] = lambda screen: True
    """Whether it is there and does something now."""
    why_not: Callable[[Surface], str] = lambda screen: ""
    """Why it does nothing now, in a sentence, where there is one."""
    asks: bool = False
    """Chosen in the palette, it is put into the composer to be completed."""
    slow: bool = False
    """It waits for a disk: done beside the screen, which goes on."""
    anywhere: bool = False
    """Whether the palette offers it over other screens than the chat, too."""
    where: Literal["screen", "lines", "both"] = "screen"
    """Which chat has it: the one on a screen, the one in lines (``--plain``), or both."""
    instead: str = ""
    """What there is instead where it is not, in a sentence."""

    @property
    def shown_key(self) -> str:
        """The key as it is now: ``ctrl+t``."""
        from app.tui.pressed import pressed  # with Textual, which a chat in lines does without

        return pressed(self.key)

    def is_for(self, screen: Surface) -> bool:
        """Whether this chat has it."""
        return self.where in ("both", "lines" if screen.in_lines else "screen")

    advanced: bool = False
    """Seldom wanted: not in the list behind a mere ``/``, which people read to learn what there is."""
    free: bool = False
    """Any text can be typed behind it: what it may be completed to is only taken when somebody chooses it."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A line that is a command."""

    name: str
    argument: str


def parse(text: str) -> Typed | None:
    """The command that ``text`` is; None: it is a message."""
    match = LINE.match(text)
    if match is None or (not match["name"] and match["argument"]):
        return None
    return Typed(match["name"], (match["argument"] or "").strip())


def message_of(text: str) -> str:
    """What is sent: ``//name`` becomes ``/name``."""
    return text[1:] if _ESCAPED.match(text) else text


def typed_as(message: str) -> str:
    """How a message is typed: ``/name`` would be a command, so it becomes ``//name``."""
    return f"/{message}" if parse(message) or _ESCAPED.match(message) else message


@cache
def registry() -> dict[str, Command]:
    """Every command by its name, in the order of the list."""
    from app.tui.command_list import COMMANDS  # which knows what each of them does

    return {command.name: command for command in COMMANDS}


def find(name: str) -> Command | None:
    """The command of this name, whether it can be used now or not."""
    return registry().get(name)


def offered(screen: Surface) -> Iterator[Command]:
    """Those that do something now."""
    return (command for command in registry().values() if command.is_for(screen) and command.available(screen))


def _stop_key(screen: Surface) -> str:
    if screen.in_lines:
        return "Ctrl+C"
    from app.tui.keymap import key_of  # with Textual, which a chat in lines does without

    return key_of("chat.stop")


async def run(screen: Surface, typed: Typed) -> None:
    """Do it. Raises :class:`RefusedError`."""
    command = find(typed.name)
    if command is None:
        raise RefusedError(_unknown(screen, typed.name))
    if not command.is_for(screen):
        raise RefusedError(f"/{command.name} is not for this kind of chat. {command.instead}".strip())
    if typed.argument and not command.words:
        raise RefusedError(f"/{command.name} takes nothing behind it; {clean_line(typed.argument, 40)} was not used.")
    if not command.available(screen):
        live = screen.dialogue.live is not None
        stop = f" An answer is being made; {_stop_key(screen)} stops it." if live else ""
        raise RefusedError(command.why_not(screen) or f"/{command.name} can do nothing now.{stop}")
    result = command.run(screen, typed.argument)
    if result is not None:
        await result


def _unknown(screen: Surface, name: str) -> str:
    from difflib import get_close_matches  # only for a word that was mistyped

    close = get_close_matches(name, [command.name for command in offered(screen)], n=1)
    meant = f"; did you mean /{close[0]}?" if close else "."
    return (
        f"There is no /{clean_line(name, 40)}{meant} / shows all. "
        "A message that begins with a slash: type a space or // first."
    )


# ------------------------------------------------------------------------------------------- commands for actions


def does(action: str) -> Run:
    """Runs an action of the chat, or else of the app, with what was typed behind it."""

    async def perform(screen: Surface, argument: str) -> None:
        method = _method(screen, action)
        if method is None:
            raise RefusedError("This cannot be done here.")
        result = method(argument) if argument else method()
        if inspect.isawaitable(result):
            await result

    return perform


def can(action: str) -> Callable[[Surface], bool]:
    """Whether there is such an action, and it does something now."""

    def possible(screen: Surface) -> bool:
        return _method(screen, action) is not None and bool(screen.check_action(action, ()))

    return possible


def key_of(action: str) -> str:
    """Stands for the key that runs an action, in :attr:`Command.key`; it is looked up when it is shown."""
    return f"{OF_ACTION}{action}"


def action_command(
    name: str,
    title: str,
    help_text: str,
    action: str,
    *,
    words: str = "",
    complete: Complete = lambda screen: (),
    anywhere: bool = False,
    where: Literal["screen", "lines", "both"] = "both",
    instead: str = "",
) -> Command:
    """The command that runs an action, shows its key, and is there while the action does something."""
    return Command(
        name,
        title,
        help_text,
        does(action),
        words,
        key_of(action),
        complete,
        can(action),
        anywhere=anywhere,
        where=where,
        instead=instead,
    )


def _method(screen: Surface, action: str) -> Callable[..., Any] | None:
    name = f"action_{action}"
    found = getattr(screen, name, None) or getattr(screen.slipstream, name, None)
    return found if callable(found) else None
