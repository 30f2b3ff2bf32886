"""A worker process: one loaded model that answers one request at a time, and the parent's handle to it.

Every engine under test, ours and the peers, lives in a process of its own, so that each has its own environment when
its libraries load, its memory is given back when it is done, and its crash is one line in the report.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 600.0

Kind = Literal["engine", "peer"]
Handlers = Mapping[str, Callable[..., Any]]


class WorkerError(Exception):
    """A request failed, or the process is gone."""


class Worker:
    """Starts ``python -m tests.bench.worker_KIND``; :meth:`call` sends one request and waits for its reply.

    It is in a process session of its own: a Ctrl+C is the parent's business.
    """

    def __init__(self, kind: Kind, log: Path, environment: Mapping[str, str] | None = None) -> None:
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        with open(log, "ab") as log_file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"tests.bench.worker_{kind}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._buffer = b""

    def call(self, do: str, *, timeout: float = TIMEOUT, **arguments: Any) -> dict[str, Any]:
        """Raises WorkerError when the worker says no, dies or is silent for ``timeout`` seconds."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(self._obituary()) from error
        reply: dict[str, Any] = json.loads(self._line(time.monotonic() + timeout))
        if "error" in reply:
            raise WorkerError(str(reply["error"]))
        return reply

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self._process.kill()
                raise WorkerError("it did not answer in time and was ended")
            data = os.read(out, 1 << 16)
            if not data:
                raise WorkerError(self._obituary())
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _obituary(self) -> str:
        return f"the process ended (exit code {self._process.wait()}); the log beside the models says more"

    def close(self, *, now: bool = False) -> None:
        """End of file ends the process; it is killed when that takes long, or ``now``."""
        if now:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # a request it never read
                    continue
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def serve(handlers: Handlers) -> None:
    """The worker's side: one JSON request a line in, one reply a line out. Native code may print: fd 1 is the log."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            reply = handlers[request.pop("do")](**request)
        except Exception as error:  # the parent decides what a failed request means
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(reply).encode() + b"\n")
        out.flush()
