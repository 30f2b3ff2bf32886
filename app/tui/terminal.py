"""The terminal as a thing to be borrowed and given back: file descriptors, modes, signals, and a last resort.

While the chat runs, file descriptors 1 and 2 lead to the log file, so nothing that prints from native code or a child
process can write over the screen; Textual draws on a private duplicate of the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

RESTORE: Final = (
    b"\x1b[?2004l"  # bracketed paste
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    b"\x1b[?2048l\x1b[?1004l"  # resize and focus reports
    b"\x1b[<u"  # Kitty keyboard
    b"\x1b[?7h\x1b[?1049l\x1b[?25h"  # line wrap, main screen, cursor
)

SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class NoTerminal(Exception):
    """There is no terminal to chat in."""


class Terminal:
    """A private hold on the terminal."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.stream = open(fd, "w", encoding="utf-8", errors="replace", newline="", closefd=False)  # noqa: SIM115
        try:
            self._attributes: list[object] | None = termios.tcgetattr(fd)
        except termios.error:
            self._attributes = None

    def restore(self) -> None:
        """Put every mode back, without waiting for a terminal that does not read."""
        with contextlib.suppress(OSError, termios.error):
            os.set_blocking(self.fd, False)
            os.write(self.fd, RESTORE)
            if self._attributes is not None:
                termios.tcsetattr(self.fd, termios.TCSANOW, self._attributes)  # type: ignore[arg-type]


@contextlib.contextmanager
def borrowed_terminal(log_path: Path) -> Iterator[Terminal]:
    """Hand out the terminal and send everything else that prints to ``log_path``."""
    if not os.isatty(0):
        raise NoTerminal
    terminal = Terminal(_duplicate_tty())
    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()
    saved = (os.dup(1), os.dup(2))
    log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    original = sys.__stderr__
    try:
        os.dup2(log_fd, 1)
        os.dup2(log_fd, 2)
        sys.__stderr__ = terminal.stream  # type: ignore[misc]  # where Textual's driver draws
        yield terminal
    finally:
        sys.__stderr__ = original  # type: ignore[misc]
        for stream in streams:
            with contextlib.suppress(Exception):
                stream.flush()
        for number, fd in zip((1, 2), saved, strict=True):
            os.dup2(fd, number)
            os.close(fd)
        os.close(log_fd)


def _duplicate_tty() -> int:
    for fd in (2, 1, 0):
        if os.isatty(fd):
            with contextlib.suppress(OSError):
                return os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
            return os.dup(fd)
    raise NoTerminal


@contextlib.contextmanager
def leave_on_signals(leave: Callable[[int], None]) -> Iterator[None]:
    """Call ``leave(signal number)`` on SIGTERM, SIGHUP and SIGINT. A signal that was ignored stays ignored (nohup)."""

    def handler(number: int, _frame: FrameType | None) -> None:
        leave(number)

    previous = {}
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            previous[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


def insist(seconds: float, last_act: Callable[[], None], exit_code: int) -> threading.Event:
    """End this process within ``seconds``, whatever blocks it, unless the returned event is set before:
    the promise behind 'quit always works'."""
    calm = threading.Event()

    def wait() -> None:
        if not calm.wait(seconds):
            with contextlib.suppress(Exception):
                last_act()
            os._exit(exit_code)

    threading.Thread(target=wait, name="insist", daemon=True).start()
    return calm
