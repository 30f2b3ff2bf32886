"""The engine process: requests in on stdin, events out on a private copy of stdout, one JSON line each.

Three threads: a reader, so that a cancel is heard while the main thread decodes; the main thread, which owns every
call into llama.cpp; a writer, so that a slow reader at the other end never holds up decoding. File descriptors 1 and
2 belong to the log: native code may print what it likes. Run as ``python -P -m engine.host`` (``-P``: a user's folder
named ``engine`` must not be imported).
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Generator
from typing import BinaryIO

from pydantic import BaseModel, ValidationError

from engine.llama import backend
from engine.llama.context import DecodeAborted
from engine.machine import ENGINE_DEFAULTS, usable_cores
from engine.profile import ProfileStore
from engine.protocol import (
    MAX_LINE_BYTES,
    REQUESTS,
    Cancel,
    Count,
    Describe,
    Described,
    ErrorCode,
    Failed,
    Generate,
    Load,
    PairChanged,
    Ready,
    Replay,
    SelfTest,
    encode,
)
from engine.session import Session
from engine.text.sandbox import RenderInterrupted

IDLE_AFTER = 1.0
"""Seconds without a request before the engine does something of its own."""

LEAVE_WITHIN = 0.8
"""Seconds between end of file on stdin and the end of the process, whatever native code is doing."""


Work = Load | Generate | Describe | SelfTest | Replay | Count
"""What the main thread does; a cancel is the reader's."""


class Writer:
    """Writes events from a queue in a thread of its own. When the other end is gone there is nothing left to do."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._queue: queue.SimpleQueue[BaseModel | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def emit(self, event: BaseModel) -> None:
        self._queue.put(event)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(LEAVE_WITHIN)

    def _run(self) -> None:
        try:
            while (event := self._queue.get()) is not None:
                self._out.write(encode(event))
                if self._queue.empty():
                    self._out.flush()
            self._out.flush()
        except OSError:
            os._exit(0)


class Desk:
    """Requests waiting for the main thread, and who is to be cancelled. Shared with the reader thread."""

    def __init__(self) -> None:
        self.requests: queue.SimpleQueue[tuple[float, Work] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._current: int | None = None
        self._idle_work = False
        self._came_in = threading.Event()
        self._cancelled: set[int] = set()
        self.abort: backend.AbortFlag | None = None

    def begin(self, request_id: int) -> bool:
        """The main thread takes up a request; False when it was cancelled while it waited."""
        with self._lock:
            if request_id in self._cancelled:
                self._cancelled.discard(request_id)
                return False
            if self.abort is not None:
                self.abort.clear()
            self._current = request_id
            return True

    def end(self) -> None:
        with self._lock:
            self._current = None

    def cancel(self, request_id: int) -> None:
        """Stop a request, running or waiting; one that ended already is left alone."""
        with self._lock:
            if request_id == self._current and self.abort is not None:
                self.abort.set()
            elif self._current is None or request_id > self._current:  # ids grow: it still waits
                self._cancelled.add(request_id)

    def put(self, request: Work) -> None:
        """A request came in. What the main thread does in idle time is cut short."""
        with self._lock:
            self.requests.put((time.perf_counter(), request))
            self._came_in.set()
            if self._idle_work and self.abort is not None:
                self.abort.set()

    def quiet_for(self, seconds: float) -> bool:
        """Wait; False as soon as a request comes in."""
        deadline = time.monotonic() + seconds
        while self.requests.empty():
            if time.monotonic() >= deadline:
                return True
            self._came_in.wait(max(0.0, deadline - time.monotonic()))
            self._came_in.clear()
        return False

    def may_idle(self) -> bool:
        """The main thread asks to spend a moment on its own; False when a request waits."""
        with self._lock:
            self._idle_work = self.requests.empty()
            if self._idle_work and self.abort is not None:
                self.abort.clear()
            return self._idle_work

    def idle_done(self) -> None:
        with self._lock:
            self._idle_work = False

    def leave(self) -> None:
        """End of file: abort what runs and let nothing new begin."""
        with self._lock:
            if self.abort is not None:
                self.abort.set()
        self.requests.put(None)
        self._came_in.set()


def read_requests(source: BinaryIO, desk: Desk, writer: Writer) -> None:
    """The reader thread. Ends at end of file, which ends the process."""
    try:
        while line := source.readline(MAX_LINE_BYTES + 1):
            try:
                request = REQUESTS.validate_json(line)
            except ValidationError as error:
                writer.emit(Failed(id=_id_of(line), code=ErrorCode.BAD_REQUEST, message=_first_words(error)))
                continue
            if isinstance(request, Cancel):
                desk.cancel(request.target)
            else:
                desk.put(request)
    finally:
        watchdog = threading.Timer(LEAVE_WITHIN, os._exit, (0,))
        watchdog.daemon = True
        watchdog.start()
        desk.leave()


def _id_of(line: bytes) -> int:
    """The id of a request that does not validate, so that its sender is not left waiting."""
    try:
        request_id = json.loads(line)["id"]
        return request_id if isinstance(request_id, int) else 0
    except (ValueError, KeyError, TypeError):
        return 0


def _first_words(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    return f"The request is not valid: {'.'.join(map(str, first['loc']))}: {first['msg']}."


def serve(desk: Desk, writer: Writer) -> None:
    """The main thread: one request after the other until end of file."""
    session: Session | None = None
    trouble = ""
    try:
        session = Session(ProfileStore())
        desk.abort = session.abort
    except (ImportError, OSError, RuntimeError, FileNotFoundError) as error:
        traceback.print_exc()
        trouble = f"llama.cpp could not be loaded: {error}. Build llama-cpp-python again (make clean, make chat)."
    while True:
        if session is not None and (work := session.idle_work()) is not None and desk.quiet_for(IDLE_AFTER):
            work_while_idle(work, session, desk, writer)
        if (waiting := desk.requests.get()) is None:
            break
        arrived, request = waiting
        if not desk.begin(request.id):
            writer.emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped before it began."))
            continue
        try:
            if session is None:
                writer.emit(Failed(id=request.id, code=ErrorCode.LOAD_FAILED, message=trouble))
            elif isinstance(request, Load):
                session.load(request, writer.emit)
            elif isinstance(request, Generate):
                session.generate(request, writer.emit, arrived=arrived)
            elif isinstance(request, SelfTest):
                session.self_test(request, writer.emit)
            elif isinstance(request, Replay):
                session.replay(request, writer.emit)
            elif isinstance(request, Count):
                session.count(request, writer.emit)
            else:
                writer.emit(describe(request.id))
        except Exception as error:  # whatever it was, the next request must find a working engine
            traceback.print_exc()
            writer.emit(
                Failed(
                    id=request.id,
                    code=ErrorCode.INTERNAL,
                    message=f"The engine met an error it did not expect ({type(error).__name__}). What arrived so far "
                    "is kept; the details are in the engine's log.",
                    detail=str(error),
                )
            )
        finally:
            desk.end()
    if session is not None:
        session.unload()


def work_while_idle(work: Generator[bool, None, None], session: Session, desk: Desk, writer: Writer) -> None:
    """Do what the session has to do in the background until a request comes in; what it cuts short starts anew."""
    if not desk.may_idle():
        return
    try:
        for changed in work:
            if changed and session.pair is not None:
                writer.emit(PairChanged(pair=session.pair.info()))
            if not desk.may_idle():
                break
    except (DecodeAborted, RenderInterrupted):
        pass
    except Exception:  # nobody asked for it, so nobody need hear of it
        traceback.print_exc()
        session.give_up_idle_work()
    finally:
        work.close()
        desk.idle_done()


def describe(request_id: int) -> Described:
    """Build, devices, threads and exact settings."""
    threads, cores = usable_cores()
    return Described(
        id=request_id,
        versions=backend.versions(),
        system_info=backend.system_info().strip(),
        devices=backend.devices(),
        gpu_offload=backend.supports_gpu_offload(),
        threads=threads,
        cores=cores,
        environment={name: os.environ.get(name, "") for name in (*ENGINE_DEFAULTS, "OMP_WAIT_POLICY")},
        exact_settings={
            "flash attention": "on",
            "K cache": "F16",
            "V cache": "BF16",
            "extra buffer types": "off",
            "GGML_CPU_TILED_MM": os.environ.get("GGML_CPU_TILED_MM", ""),
        },
    )


def main() -> None:
    """Take over the file descriptors, start the threads, serve."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    faulthandler.enable(file=2)
    writer = Writer(out)
    writer.emit(Ready(pid=os.getpid(), versions=backend.versions()))
    desk = Desk()
    reader = threading.Thread(target=read_requests, args=(sys.stdin.buffer, desk, writer), name="reader", daemon=True)
    reader.start()
    serve(desk, writer)
    writer.close()


if __name__ == "__main__":
    main()
