"""Where requests wait for the engine's main thread, and where a cancel finds them."""

from __future__ import annotations

import queue
import threading
import time

from engine.llama import backend
from engine.protocol import Count, Describe, Generate, Load, Replay, SelfTest

Work = Load | Generate | Describe | SelfTest | Replay | Count
"""What the main thread does; a cancel is the reader's."""


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
