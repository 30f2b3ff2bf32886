"""The answer's way to stdout, and the passing words about progress on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Final

from app.clean import StreamCleaner
from app.commands.errors import CommandError


def print_text(text: str) -> None:
    """On stdout, whatever its encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


class AnswerWriter:
    """Writes an answer piece by piece. A terminal gets it cleaned, since a model's output is not to be trusted with a
    terminal; a pipe or a file gets it as it is, in UTF-8. Either way it ends with a line end."""

    def __init__(self) -> None:
        self._terminal = sys.stdout is not None and sys.stdout.isatty()
        self._encoding = sys.stdout.encoding if self._terminal else "utf-8"
        self._cleaner = StreamCleaner()
        self._last = "\n"

    def write(self, text: str) -> None:
        """BrokenPipeError when nobody reads any more."""
        self._put(self._cleaner.feed(text) if self._terminal else text)

    def finish(self) -> None:
        """The rest, and the line end."""
        if self._terminal:
            self._put(self._cleaner.finish())
        if self._last != "\n":
            self._put("\n")

    def _put(self, text: str) -> None:
        if not text or sys.stdout is None:
            return
        self._last = text[-1]
        try:
            sys.stdout.buffer.write(text.encode(self._encoding, "replace"))
            sys.stdout.buffer.flush()
        except OSError as error:
            _send_to_nowhere(sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            raise CommandError(f"The answer could not be written: {error.strerror or error}.") from error


def _send_to_nowhere(fd: int) -> None:
    """Or Python complains at exit about what it still holds."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)


class Progress:
    """One changing line on a terminal's stderr, gone before the answer begins; nothing where nobody looks, or
    ``sparse``: a line now and then, for what takes long."""

    EVERY: Final = 10.0
    """Seconds between two such lines, and before the first."""

    def __init__(self, *, sparse: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._on = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = ""
        self._clock = clock if sparse and sys.stderr is not None and not self._on else None
        self._written = clock()

    def show(self, text: str) -> None:
        if self._on and text != self._shown:
            self._write(f"\r\x1b[K{text}")
            self._shown = text
        elif self._clock is not None and (now := self._clock()) - self._written >= self.EVERY:
            self._write(f"{text}\n")
            self._written = now

    def clear(self) -> None:
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = ""

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()
