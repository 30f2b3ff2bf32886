"""Fewer threads while other programs keep processors busy.

The threads of a pass wait for each other hundreds of times. Where one of them shares its processor, all of them wait
for that one: beside a single busy process two threads on two processors were three times slower than alone, and twice
as slow as one thread that had a processor for itself (Linux 6.18, 135M parameters).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from engine.other_work import OtherWork

WINDOW: Final = 0.4
"""Seconds between two looks at what others do."""

SHARED: Final = 0.45
"""So much of a processor is somebody else's, and it is better left to them."""


class Look(Protocol):
    """What others did since it was made: :class:`engine.other_work.OtherWork`."""

    def cores(self) -> float | None:
        """See there."""


class StepBack:
    """During one answer: looks now and then, and gives processors up that others use, as long as they do.

    ``full``: threads as they were chosen; ``fewer``: smaller numbers that are known to round alike, so that the answer
    stays the same; ``use``: sets a number; ``processors``: all that the machine has, since what others do is told of
    all of them: beside work on processors that are not ours anyway, nothing is given up.
    """

    def __init__(
        self,
        full: int,
        fewer: Sequence[int],
        use: Callable[[int], None],
        *,
        processors: int | None = None,
        look: Callable[[], Look] = OtherWork,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._full, self._fewer, self._use = full, sorted(fewer, reverse=True), use
        self._processors = processors or os.cpu_count() or 1
        self._look, self._clock = look, clock
        self._now = self._fewest = full
        self._passes = 0
        if self._fewer:  # else there is nothing to look for
            self._begin_window()

    def after_pass(self) -> None:
        """One more pass was made."""
        self._passes += self._now < self._full
        if not self._fewer or self._clock() < self._due:
            return
        others = self._window.cores()
        self._begin_window()
        if others is not None:
            self._take(self._fitting(others))

    def end(self) -> None:
        """The answer is made: back to all threads."""
        self._take(self._full)

    @property
    def note(self) -> str | None:
        """What the answer's reader must know; None where all threads were used all the time."""
        if not self._passes:
            return None
        plural = "es" * (self._passes != 1)
        return f"beside other programs {self._fewest} of {self._full} threads made {self._passes:,} pass{plural}"

    def _begin_window(self) -> None:
        self._window, self._due = self._look(), self._clock() + WINDOW

    def _fitting(self, others: float) -> int:
        free = self._processors - max(0, math.ceil(others - SHARED))
        if free >= self._full:
            return self._full
        return next((count for count in self._fewer if count <= free), self._fewer[-1])

    def _take(self, threads: int) -> None:
        if threads != self._now:
            self._use(threads)
            self._now, self._fewest = threads, min(self._fewest, threads)
