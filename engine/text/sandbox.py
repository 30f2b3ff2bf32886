"""The parent's side of :mod:`engine.text.render`: one helper process, with time limits, replaced when it misbehaves."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

log = logging.getLogger(__name__)

TIME_LIMIT = 2.0
"""Seconds one rendering may take; a usual one takes a millisecond."""

START_LIMIT = 5.0
"""Seconds the helper process may take to come up."""

POLL = 0.05
"""Seconds between two looks at whether the user has given up."""

MAX_REPLY_BYTES = 256 * 1024 * 1024

Kind = Literal[
    "syntax", "missing", "raised", "runtime", "unsafe", "ignored", "timeout", "memory", "too_long", "crashed", "start"
]


class TemplateProblem(Exception):
    """Why a template gave no prompt. ``message`` is untrusted text.

    ``syntax``: it cannot be parsed. ``missing``: it uses the unknown name ``message``. ``raised``: it refused the
    conversation itself. ``runtime``: it failed. ``unsafe``: the sandbox refused it. ``ignored``: it left a message
    out. ``timeout``, ``memory``, ``too_long``: it passed a limit. ``crashed``: it took the helper down. ``start``: the
    helper did not come up.
    """

    def __init__(self, kind: Kind, message: str = "", line: int | None = None) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind: Kind = kind
        self.message = message
        self.line = line


class RenderInterrupted(Exception):
    """The user gave up while a template was rendering."""


class Sandbox:
    """A lazily started, persistent helper process. Thread-safe; requests are answered one after the other.

    ``interrupted`` is asked while a rendering runs: True gives it up (:class:`RenderInterrupted`).
    """

    def __init__(
        self,
        *,
        time_limit: float = TIME_LIMIT,
        start_limit: float = START_LIMIT,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._interrupted = interrupted
        self.time_limit = time_limit
        self.start_limit = start_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Process id of the helper, None while there is none."""
        return self._process.pid if self._process is not None else None

    def render(
        self,
        template: str,
        messages: Sequence[dict[str, Any]],
        bos: str,
        eos: str,
        now: datetime,
        variables: Mapping[str, object] | None = None,
    ) -> str:
        """The rendered prompt. ``variables``: further names that the template may know. Raises
        :class:`TemplateProblem`."""
        request = {
            "template": template,
            "messages": list(messages),
            "bos": bos,
            "eos": eos,
            "now": now.isoformat(),
            "variables": dict(variables or {}),
            "watchdog": self.time_limit + 1,
        }
        with self._lock:
            reply = self._ask(self._running(), json.dumps(request).encode() + b"\n", self.time_limit)
            if reply is None:
                raise TemplateProblem("timeout")
            if not reply:
                code = self._stop()
                raise TemplateProblem("crashed", f"exit code {code}")
            if reply.get("error") == "memory":
                self._stop()  # what it managed to hold may not be given back
        if "text" in reply:
            return str(reply["text"])
        if reply.get("detail"):
            log.info("chat template: %s", reply["detail"])
        raise TemplateProblem(reply["error"], reply["message"], reply["line"])

    def start(self) -> None:
        """Have the helper running, so that what follows takes no start-up time. Raises :class:`TemplateProblem`."""
        with self._lock:
            self._running()

    def close(self) -> None:
        """End the helper process; the next rendering starts a new one."""
        with self._lock:
            self._stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engine.text.render"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,  # stderr is the engine's log
                # -P keeps a folder named "engine" in the current directory out; this puts ours in front of all others
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,
            )
        except OSError as error:
            raise TemplateProblem("start", str(error)) from error
        if not self._ask(self._process, b"", self.start_limit):
            code = self._stop()
            log.error("the template helper did not come up, exit code %s", code)
            raise TemplateProblem("start", f"exit code {code}")
        return self._process

    def _ask(self, process: subprocess.Popen[bytes], request: bytes, limit: float) -> dict[str, Any] | None:
        """The reply; {} when the process is gone; None, and the process killed, when ``limit`` seconds passed.

        A thread does the waiting, since pipes have no time limits on every platform.
        """
        replies: list[bytes] = []

        def exchange() -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(request)
                process.stdin.flush()
                replies.append(process.stdout.readline(MAX_REPLY_BYTES))

        thread = threading.Thread(target=exchange, name="chat template", daemon=True)
        thread.start()
        deadline = time.monotonic() + limit
        while thread.is_alive() and time.monotonic() < deadline and not self._interrupted():
            thread.join(POLL)
        if thread.is_alive():
            process.kill()
            thread.join()
            self._stop()
            if self._interrupted():
                raise RenderInterrupted
            return None
        try:
            reply = json.loads(replies[0]) if replies and replies[0] else {}
        except ValueError:
            reply = {}
        return reply if isinstance(reply, dict) else {}

    def _stop(self) -> int | None:
        """Kill and reap. Returns the exit code, None when there was no process."""
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(OSError):
            process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return process.wait()
