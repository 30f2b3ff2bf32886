"""Where messages come from: a terminal with readline, a terminal without it, or a pipe; and how lines make a message.

A line that ends with a backslash goes on with the next one. Lines between two lines of three quotes are one message.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from typing import TextIO

YOU: Final = "you> "
MORE: Final = "more> "
BLOCK: Final = '"""'


class GivenUp(KeyboardInterrupt):
    """Ctrl+C in the middle of a message of several lines."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        """What was typed of it."""


NextLine = Callable[[str, str], str | None]
"""``next_line(prompt, prefilled)``: without its line end; None: there are no more."""


class Prompt(Protocol):
    """One way to read lines."""

    interactive: bool
    """Whether somebody types."""
    prefills: bool
    """Whether a text can be put in front of the cursor, to be changed."""

    def line(self, prompt: str, prefilled: str = "") -> str | None:
        """The next line without its end; None: there are no more."""

    def remember(self, texts: Iterable[str]) -> None:
        """For the keys that bring back what was said before, oldest first."""


def read_message(next_line: NextLine, prefilled: str = "") -> str | None:
    """The next message or command; None: the end. Raises :class:`GivenUp`."""
    first = next_line(YOU, prefilled)
    if first is None:
        return None
    lines = [] if first.strip() == BLOCK else [first]
    try:
        if not lines:
            while (more := next_line(MORE, "")) is not None and more.strip() != BLOCK:
                lines.append(more)
            return "\n".join(lines)
        while _goes_on(lines[-1]):
            lines[-1] = lines[-1][:-1]
            if (more := next_line(MORE, "")) is None:
                break
            lines.append(more)
    except KeyboardInterrupt:
        raise GivenUp("\n".join(lines)) from None
    return "\n".join(lines)


def _goes_on(line: str) -> bool:
    """An even number of backslashes at the end stands for themselves."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


class ReadlinePrompt:
    """A terminal with line editing, history (up), and a text to begin with. A paste with line breaks stays one message
    where the library can do that (GNU readline 8; libedit of macOS takes each line for a message)."""

    interactive = True
    prefills = True

    def __init__(self) -> None:
        import readline

        self._readline = readline
        if hasattr(readline, "set_auto_history"):
            readline.set_auto_history(False)  # whole messages are remembered, not their lines
        if "libedit" not in (readline.__doc__ or ""):
            readline.parse_and_bind("set enable-bracketed-paste on")

    def line(self, prompt: str, prefilled: str = "") -> str | None:
        if prefilled:
            self._readline.set_startup_hook(lambda: self._readline.insert_text(prefilled))
        try:
            return input(prompt)
        except EOFError:
            return None
        finally:
            self._readline.set_startup_hook()

    def remember(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._readline.add_history(text)


class PlainPrompt:
    """A stream of lines, such as a pipe or a terminal that can do nothing but lines. ``ask``: writes the prompt; None:
    nobody sees one."""

    prefills = False

    def __init__(self, stream: TextIO, ask: Callable[[str], None] | None = None) -> None:
        self.interactive = ask is not None
        self._stream = stream
        self._ask = ask
        self._coding = (stream.encoding if ask is not None else "") or "utf-8"

    def line(self, prompt: str, prefilled: str = "") -> str | None:
        if self._ask is not None:
            self._ask(prompt)
        try:
            raw = self._stream.buffer.readline()
        except OSError:  # a terminal that was closed
            raw = b""
        if not raw:
            return None
        return raw.decode(self._coding, "replace").removeprefix("\ufeff").removesuffix("\n").removesuffix("\r")

    def remember(self, texts: Iterable[str]) -> None:
        """A stream has no keys."""


def is_dumb() -> bool:
    """Whether the terminal says of itself that it can do nothing but lines."""
    return os.environ.get("TERM") == "dumb"


def open_prompt(ask: Callable[[str], None]) -> Prompt:
    """The best there is for this process. ``ask``: writes a prompt where readline does not."""
    stdin = sys.stdin
    if stdin is None or stdin.closed:
        stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if not stdin.isatty():
        return PlainPrompt(stdin)
    if isinstance(stdin, io.TextIOWrapper):
        stdin.reconfigure(errors="replace")
    if is_dumb() or not sys.stdout.isatty():
        return PlainPrompt(stdin, ask)
    try:
        return ReadlinePrompt()
    except ImportError:  # Windows
        return PlainPrompt(stdin, ask)
