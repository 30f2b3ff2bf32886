"""The real program under a pseudo-terminal: every byte it writes, and what a terminal would show."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyte

from tests.fixtures.processes import children

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0
ANSWERS = "-m", "tests.fixtures_cli.slipstream_fake"
SLOW = {"pieces": [f"word{n} " for n in range(2000)], "pause": 0.05}
"""An engine whose answer takes its time."""
MODES = (b"?1049", b"?1000", b"?1003", b"?1006", b"?2004", b"?1004")


class TerminalRun:
    """One run of the program. ``output`` has every byte that came."""

    def __init__(self, pid: int, master: int, size: tuple[int, int]) -> None:
        self.pid, self.master = pid, master
        self.output = b""
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self.status: int | None = None

    def pump(self, seconds: float = 0.05) -> None:
        """Read what has come."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.master < 0 or not select.select([self.master], [], [], left)[0]:
                return
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            if not data:
                return
            self.output += data
            # pyte knows neither Kitty's key protocol nor mode queries; both would show as text
            with contextlib.suppress(Exception):
                self._stream.feed(data.replace(b"\x1b[>25u", b"").replace(b"\x1b[<u", b""))

    def until(self, condition: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
        """Pump until ``condition()``; returns the seconds it took."""
        begun = time.monotonic()
        while not condition():
            self.pump()
            if time.monotonic() - begun > patience:
                raise AssertionError(f"never came: {what}\n{self.shown}")
        return time.monotonic() - begun

    def sees(self, text: str) -> float:
        return self.until(lambda: text in self.shown, text)

    @property
    def shown(self) -> str:
        return "\n".join(self.screen.display)

    def write(self, data: bytes) -> None:
        os.write(self.master, data)

    def say(self, text: str) -> None:
        """Type a message and send it."""
        self.write(text.encode())
        self.sees(text)
        self.write(b"\r")

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """The terminal window is closed."""
        os.close(self.master)
        self.master = -1

    def ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self, patience: float = PATIENCE) -> int:
        self.until(self.ended, "the end of the program", patience)
        self.pump(0.2)
        assert self.status is not None
        return self.status

    def children(self) -> list[int]:
        """Processes of this program that are alive: its engines."""
        return children(self.pid)

    def restored(self) -> list[str]:
        """Terminal modes that were switched on and not off again."""
        left = []
        for mode in MODES:
            if self.output.rfind(b"\x1b[" + mode + b"h") > self.output.rfind(b"\x1b[" + mode + b"l"):
                left.append(mode.decode())
        if self.output.rfind(b"\x1b[?25l") > self.output.rfind(b"\x1b[?25h"):
            left.append("cursor hidden")
        return left


@contextmanager
def program(
    home: Path,
    *,
    play: dict[str, Any] | None = None,
    size: tuple[int, int] = (100, 30),
    real: bool = False,
    before: str = "",
    options: Sequence[str] = (),
    term: str = "xterm-256color",
    environment: Mapping[str, str] = MappingProxyType({}),
    under: Sequence[str] = (),
) -> Iterator[TerminalRun]:
    """Run the chat. ``play``: what the fake engine does (see tests/fixtures_cli/fake_host.py); ``real``: the engine;
    ``before``: Python that runs first; ``options``: of the command line; ``term``: what the terminal is called;
    ``environment``: variables that are otherwise than here; ``under``: a shell to run instead, for the
    test to type in."""
    arguments = [sys.executable, *(("-m", "app") if real else ANSWERS), *options]
    if before:
        start = f"{before}; import runpy; runpy.run_module('{ANSWERS[1]}', run_name='__main__')"
        arguments = [sys.executable, "-c", start]
    if under:
        arguments = [*under]
    given = {
        **os.environ,
        "SLIPSTREAM_HOME": str(home),
        "FAKE_HOST": json.dumps(play or {}),
        "TERM": term,
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
    }
    given.pop("NO_COLOR", None)
    given |= environment
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe(arguments[0], arguments, given)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    run = TerminalRun(pid, master, size)
    try:
        yield run
    finally:
        for child in [] if run.ended() else run.children():
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        if not run.ended():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if run.master >= 0:
            os.close(run.master)


def in_mid_answer(run: TerminalRun) -> list[int]:
    """Wait until an answer is half there; its engine's processes."""
    run.sees("type a message")
    run.say("go on for long")
    run.sees("word3 ")
    engines = run.children()
    assert engines
    return engines
