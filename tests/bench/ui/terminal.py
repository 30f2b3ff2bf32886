"""The program in a pseudo-terminal whose bytes are read the moment they come, and not interpreted: looking at what a
screen shows would cost more than what is measured."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from app.compare.neighbours import Neighbours, Snapshot
from tests.fixtures.processes import children

ROOT: Final = Path(__file__).resolve().parents[3]
COLUMNS, ROWS = 120, 40
PATIENCE: Final = 30.0
PROMPT: Final = b"ype a message"
"""What the empty composer shows behind its first letter, which the cursor may stand on."""
QUIT: Final = b"\x11"


class NeverCame(Exception):
    """The program did not show what was waited for."""


class Program:
    """A running program. Times are those of ``time.perf_counter``."""

    def __init__(self, pid: int, master: int, begun: float) -> None:
        self.pid, self.begun = pid, begun
        self.output = bytearray()
        """Every byte it has written."""
        self._master = master
        self._neighbours = Neighbours()

    def read(self, seconds: float) -> float | None:
        """Wait that long for something to come; the moment when it did, None when nothing has."""
        if not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return None
        now = time.perf_counter()
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # Linux says so when the other end is closed
            data = b""
        if not data:
            raise NeverCame("The program has ended before its time.")
        self.output += data
        return now

    def run(self, seconds: float) -> None:
        """Let it work."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def sees(self, *wanted: bytes, since: int = 0, patience: float = PATIENCE) -> float:
        """The moment at which all of ``wanted`` had come in the output from ``since`` on."""
        until, missing, now = time.perf_counter() + patience, list(wanted), time.perf_counter()
        at = since
        while True:
            missing = [words for words in missing if self.output.find(words, at) < 0]
            if not missing:
                return now
            at = max(since, len(self.output) - max(map(len, missing)))
            left = until - time.perf_counter()
            moment = self.read(min(left, 1.0))
            now = now if moment is None else moment
            if left <= 0:
                raise NeverCame(f"Never came: {missing[0]!r}. On screen is\n{self.shown()}")

    def shown(self) -> str:
        """The screen as text, for a person who has to find out what went wrong."""
        import pyte  # of no use while anything is measured

        screen = pyte.Screen(COLUMNS, ROWS)
        pyte.ByteStream(screen).feed(bytes(self.output))
        return "\n".join(line.rstrip() for line in screen.display)

    def settle(self, quiet: float = 0.5) -> None:
        """Let it work until nothing has come for ``quiet`` seconds."""
        while self.read(quiet) is not None:
            pass

    def write(self, data: bytes) -> None:
        """Type; what comes back meanwhile is kept, or both sides could wait for ever."""
        os.set_blocking(self._master, False)
        try:
            while data:
                readable, writable, _ = select.select([self._master], [self._master], [])
                if readable:
                    self.read(0)
                if writable:
                    data = data[os.write(self._master, data[: 1 << 12]) :]
        finally:
            os.set_blocking(self._master, True)

    def say(self, message: str) -> None:
        """Type a message and send it."""
        here = len(self.output)
        self.write(message.encode())
        self.sees(message.encode(), since=here)
        self.write(b"\r")

    def look(self) -> tuple[float, Snapshot]:
        """CPU seconds that the program itself has spent, and those of the whole measurement."""
        own = self._neighbours.look([self.pid]).ours
        return own, self._neighbours.look([self.pid, os.getpid(), *children(self.pid)])

    def end(self) -> None:
        """Quit; insist when that takes too long."""
        until = time.perf_counter() + PATIENCE
        with suppress(OSError, NeverCame):
            self.write(QUIT)
            while time.perf_counter() < until:
                self.read(0.2)
        if not self._ends_within(1.0):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def _ends_within(self, seconds: float) -> bool:
        until = time.perf_counter() + seconds
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.perf_counter() > until:
                return False
            time.sleep(0.01)
        return True


@contextmanager
def program(command: Sequence[str], home: Path) -> Iterator[Program]:
    """Start ``python *command`` with ``home`` as its only folder; it is ended at the end."""
    environment = {
        **os.environ,
        "SLIPSTREAM_HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"),
    }
    environment.pop("NO_COLOR", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program need not be compiled at every start
    arguments = [sys.executable, *command]
    begun = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(arguments[0], arguments, environment)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    running = Program(pid, master, begun)
    try:
        yield running
    finally:
        running.end()
