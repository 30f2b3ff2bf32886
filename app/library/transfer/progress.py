"""How far a transfer is: snapshots for whoever draws them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

State = Literal[
    "queued",
    "checking",  # reading what is on the disk already
    "connecting",
    "receiving",
    "waiting",  # see wait and reason
    "paused",
    "verifying",
    "ready",  # whole; the other parts of its set are not
    "done",
    "failed",
]

BETWEEN_SAMPLES = 0.1
"""Seconds between two looks at the count."""

WINDOW = 5.0
"""Seconds that the rate is taken over."""

SILENCE = 3.0
"""Seconds without a byte from which on that is said."""

SHORTEST = 0.5
"""Seconds below which a rate would be noise."""


@dataclass(frozen=True)
class Progress:
    """One file at one moment."""

    path: Path
    state: State
    done: int
    """Bytes on the disk; while ``checking``, bytes read again so far."""
    total: int
    rate: float = 0.0
    """Bytes a second from the network, over the last few seconds."""
    left: float | None = None
    """Seconds, when they can be told."""
    silent: bool = False
    """Connected, and nothing has come for :data:`SILENCE`."""
    wait: float = 0.0
    """Seconds until the next try; 0 when it does not depend on time."""
    reason: str = ""
    """Why it is waiting."""
    note: str = ""
    """What happened on the way that a person should know, such as a start from zero."""


@dataclass(frozen=True)
class Overall:
    """All files of one download at one moment."""

    state: State
    done: int
    total: int
    rate: float
    left: float | None
    files: tuple[Progress, ...]

    @property
    def silent(self) -> bool:
        """Whether nothing comes of any file that is connected."""
        connected = [file for file in self.files if file.state == "receiving"]
        return bool(connected) and all(file.silent for file in connected)


class Meter:
    """Counts one file's bytes. One thread counts; any thread may look at :attr:`progress`."""

    def __init__(self, path: Path, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now = Progress(path, "queued", 0, total)
        self._samples: deque[tuple[float, int]] = deque()
        self._grew_at = clock()

    @property
    def progress(self) -> Progress:
        return self._now

    def enter(self, state: State, done: int, *, wait: float = 0.0, reason: str = "") -> None:
        """The transfer is in this state now."""
        if state != self._now.state:
            self._samples.clear()
            self._grew_at = self._clock()
        self._now = replace(
            self._now, state=state, done=done, wait=wait, reason=reason, rate=0.0, left=None, silent=False
        )

    def advance(self, done: int) -> None:
        """So many bytes are there now."""
        self._grew_at = self._clock()
        self._now = replace(self._now, done=done)
        self.tick()

    def note(self, text: str) -> None:
        """For :attr:`Progress.note`."""
        self._now = replace(self._now, note=text)

    def tick(self) -> None:
        """Take the rate; call it while nothing comes, too, so that it falls."""
        now = self._clock()
        if self._now.state != "receiving" or (self._samples and now - self._samples[-1][0] < BETWEEN_SAMPLES):
            return
        self._samples.append((now, self._now.done))
        while len(self._samples) > 1 and self._samples[0][0] < now - WINDOW:
            self._samples.popleft()
        began, before = self._samples[0]
        if now - began >= SHORTEST:
            rate = (self._now.done - before) / (now - began)
            left = (self._now.total - self._now.done) / rate if rate > 0 else None
            self._now = replace(self._now, rate=rate, left=left, silent=now - self._grew_at >= SILENCE)


def overall(files: Sequence[Progress]) -> Overall:
    """Several files as one."""
    done, total = sum(file.done for file in files), sum(file.total for file in files)
    rate = sum(file.rate for file in files)
    left = (total - done) / rate if rate > 0 else None
    return Overall(_overall_state([file.state for file in files]), done, total, rate, left, tuple(files))


def _overall_state(states: Sequence[State]) -> State:
    """What people would call it: the liveliest of its files' states."""
    order: tuple[State, ...] = ("receiving", "connecting", "checking", "verifying", "waiting", "paused", "queued")
    for state in order:
        if state in states:
            return state
    if "failed" in states:
        return "failed"
    return "ready" if "ready" in states else "done"
