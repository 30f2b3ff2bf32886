"""The engine process as its owner sees it: started, spoken to line by line, watched, ended.

It runs in a session of its own, so a Ctrl+C in the terminal is the user interface's business; its stderr is a log file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from engine.machine import FOLDER_VARIABLE, engine_environment
from engine.protocol import EVENTS, MAX_LINE_BYTES, Event, encode

log = logging.getLogger(__name__)

EXIT_PATIENCE = 1.5
"""Seconds the process has to leave after its stdin was closed."""

LAST_WORDS_PATIENCE = 1.0
"""Seconds that the last lines of a process that has ended are waited for: a child of its may hold the pipe open."""

LOG_TAIL_BYTES = 4096


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """asyncio's own, which also says when the process itself has ended: ``Process.wait`` returns only once all of its
    pipes are closed, and a child may keep them open for ever."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=MAX_LINE_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class EngineProcess:
    """One process at a time; :meth:`start` starts another one when the last has ended.

    ``on_event`` gets every event, ``on_end`` is called once when a process has ended, after its last event.
    """

    def __init__(
        self,
        log_path: Path,
        on_event: Callable[[Event], None],
        on_end: Callable[[], None],
        *,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        cache: Path | None = None,
    ) -> None:
        self.log_path, self._on_event, self._on_end = log_path, on_event, on_end
        self._command = list(command or (sys.executable, "-P", "-m", "engine.host"))
        self._environment = engine_environment(environment)
        if cache is not None:
            self._environment[FOLDER_VARIABLE] = str(cache)
        # -P keeps a folder named "engine" in the current directory out; this puts ours in front of all others.
        root = str(Path(__file__).resolve().parents[1])
        self._environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, self._environment.get("PYTHONPATH")]))
        self._process: asyncio.subprocess.Process | None = None
        self._exited = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._start_lock = asyncio.Lock()
        self._log_start = 0

    @property
    def running(self) -> bool:
        """Whether it is alive."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        """Its process id, None when it is not running."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def exit_words(self) -> str:
        """How the last process ended."""
        return describe_exit(self._process.returncode if self._process is not None else None)

    async def start(self) -> None:
        """Start it if it is not running. Raises OSError when that cannot be done."""
        async with self._start_lock:
            if self.running:
                return
            if self._reader is not None:
                await self._reader
            await self._spawn()

    async def _spawn(self) -> None:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log_path, "ab") as log_file:
            self._log_start = log_file.tell()
            loop = asyncio.get_running_loop()
            transport, protocol = await loop.subprocess_exec(
                lambda: _Protocol(loop),
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                env=self._environment,
                start_new_session=True,
            )
        self._process = asyncio.subprocess.Process(transport, protocol, loop)
        self._exited = protocol.exited
        self._reader = asyncio.create_task(self._read(self._process, transport, protocol.exited), name="engine reader")

    async def send(self, request: BaseModel) -> None:
        """Say one line; nothing happens when nobody is there to hear it."""
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            return
        with contextlib.suppress(ConnectionError):
            process.stdin.write(encode(request))
            await process.stdin.drain()

    async def _read(
        self, process: asyncio.subprocess.Process, transport: asyncio.SubprocessTransport, exited: asyncio.Event
    ) -> None:
        """Hear every line, and then that it has ended."""
        lines = asyncio.create_task(self._lines(process), name="engine lines")
        end = asyncio.create_task(exited.wait(), name="engine end")
        await asyncio.wait([lines, end], return_when=asyncio.FIRST_COMPLETED)
        await end
        await asyncio.wait([lines], timeout=LAST_WORDS_PATIENCE)
        if not lines.done():
            log.warning("a child of the engine that ended held its pipe; it is ended, too")
            _kill(process)
            lines.cancel()
        transport.close()  # its pipes, while there is a loop to close them in
        self._on_end()

    async def _lines(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than MAX_LINE_BYTES: not a word of ours
                log.error("the engine sent a line over %d bytes", MAX_LINE_BYTES)
                _kill(process)
                break
            if not line:
                break
            try:
                event = EVENTS.validate_json(line)
            except ValidationError:
                log.error("the engine sent a line that is no event: %.200r", line)
                continue
            self._on_event(event)

    async def kill(self) -> None:
        """End it now, with its children, and wait until its last words were read."""
        if self._process is not None:
            _kill(self._process)
            await self._exited.wait()
        if self._reader is not None:
            await self._reader

    async def close(self) -> None:
        """End it: ask by closing its stdin, then insist."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(self._exited.wait(), EXIT_PATIENCE)
        except TimeoutError:
            _kill(process)
            await self._exited.wait()
        if self._reader is not None:
            await self._reader

    def log_tail(self) -> str:
        """The last lines the present (or last) process wrote to its log."""
        try:
            with open(self.log_path, "rb") as log_file:
                size = log_file.seek(0, os.SEEK_END)
                log_file.seek(max(self._log_start, size - LOG_TAIL_BYTES, 0))
                return log_file.read().decode("utf-8", "replace").strip()
        except OSError:
            return ""


def describe_exit(code: int | None) -> str:
    """A process's return code in words: ``signal 4, illegal instruction``."""
    if code is None:
        return "it does not answer"
    if code >= 0:
        return f"exit code {code}"
    names = {
        signal.SIGILL: "illegal instruction: this build does not fit this processor",
        signal.SIGKILL: "killed; out of memory?",
        signal.SIGSEGV: "memory fault",
        signal.SIGABRT: "aborted by a failed check",
        signal.SIGFPE: "arithmetic fault",
        signal.SIGBUS: "bus error: was the model file changed or removed?",
        signal.SIGTERM: "terminated",
    }
    try:
        known = signal.Signals(-code)
    except ValueError:
        return f"signal {-code}"
    return f"signal {-code}, {names.get(known, known.name)}"


def _kill(process: asyncio.subprocess.Process) -> None:
    """The process and what it has started: all of its session, which is its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
