"""What the chat in lines writes: each line once, cleaned, and never into a line that somebody else has begun."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final, TextIO

from app.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_WORD: Final = 80
"""Characters that wait for the end of their word at most; some scripts have no spaces."""


class OutputGone(Exception):
    """Nobody reads what is written any more. ``broken_pipe``: as with ``| head``, which is no error of ours."""

    def __init__(self, reason: str, *, broken_pipe: bool) -> None:
        super().__init__(f"The chat could not be written: {reason}. What was said is kept.")
        self.broken_pipe = broken_pipe


class Lines:
    """``out`` takes answers and what was asked for; ``beside`` takes notices and receipts, which belong elsewhere when
    the answers go into a pipe. Both may be the same."""

    def __init__(self, out: Callable[[str], None], beside: Callable[[str], None] | None = None) -> None:
        self._out = out
        self._beside = beside or out
        self._open = False
        """Whether a line of ``out`` was begun and not ended."""
        self._held = ""
        """The beginning of a word."""
        self._waiting: list[str] | None = None
        """While somebody types: what is to be said behind that."""

    def say(self, text: str) -> None:
        """Whole lines that were asked for."""
        self.end_line()
        self._out(f"{clean(text)}\n")

    def note(self, text: str) -> None:
        """Whole lines that belong to no answer, or are about one."""
        if self._waiting is not None:
            self._waiting.append(text)
            return
        if self._beside is self._out:
            self.end_line()
        self._beside(f"{clean(text)}\n")

    def write(self, piece: str) -> None:
        """More of a text that arrives in pieces, cleaned already; it appears by whole words: a screen reader would
        spell out the parts of one."""
        text = self._held + piece
        end = max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
        if len(text) - end > LONGEST_WORD:
            end = len(text)
        self._held = text[end:]
        self._put(text[:end])

    def end_line(self) -> None:
        """The rest of what was written, and a line end where there is none."""
        held, self._held = self._held, ""
        self._put(held)
        if self._open:
            self._put("\n")

    def hold(self) -> None:
        """Somebody types from now on: notices wait until :meth:`release`."""
        self.end_line()
        self._waiting = []

    def release(self, *, line_open: bool = False) -> None:
        """The line was typed, or given up (``line_open``: in the middle of it)."""
        waiting, self._waiting = self._waiting or (), None
        if line_open:
            self._out("\n")
        for text in waiting:
            self.note(text)

    def _put(self, text: str) -> None:
        if text:
            self._open = text[-1] != "\n"
            self._out(text)


def writer(stream: TextIO | None, encoding: str = "") -> Callable[[str], None]:
    """Writes to ``stream`` at once, in ``encoding`` or its own, and with stand-ins for what that does not have. Raises
    :class:`OutputGone`; a stream that is not there takes everything."""
    if stream is None:
        return lambda text: None
    coding = encoding or stream.encoding or "utf-8"

    def write(text: str) -> None:
        try:
            stream.buffer.write(text.encode(coding, "replace"))
            stream.buffer.flush()
        except OSError as error:
            _send_to_nowhere(stream)
            reason = (error.strerror or str(error)).lower()
            raise OutputGone(reason, broken_pipe=isinstance(error, BrokenPipeError)) from error

    return write


def silent(write: Callable[[str], None]) -> Callable[[str], None]:
    """``write``, and when that is not possible any more, nothing: for notices."""

    def quietly(text: str) -> None:
        with contextlib.suppress(OutputGone):
            write(text)

    return quietly


def _send_to_nowhere(stream: TextIO) -> None:
    """Or Python complains at exit about what it still holds."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
