"""What other programs did with the processors while an answer was made: two looks, at its beginning and its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.processors import PROC, busy_seconds, process_seconds

LEAST_SECONDS: Final = 0.2
"""Over less the kernel's clock ticks are too coarse."""


class OtherWork:
    """From when it is made to :meth:`cores`. Ours is what this process and the one that started it do."""

    def __init__(
        self,
        proc: Path = PROC,
        *,
        wall: Callable[[], float] = time.perf_counter,
        own: Callable[[], float] = time.process_time,
    ) -> None:
        """``wall`` and ``own``: clocks of the machine and of this process's work, in seconds."""
        self._proc, self._wall, self._own = proc, wall, own
        self._app = os.getppid()
        self._before = self._look()

    def cores(self) -> float | None:
        """Cores' worth of work that was not ours; None where the system does not tell, or too little time has
        passed."""
        (began, busy_before, ours_before), (now, busy, ours) = self._before, self._look()
        if busy is None or busy_before is None or now - began < LEAST_SECONDS:
            return None
        return max(0.0, (busy - busy_before - (ours - ours_before)) / (now - began))

    def _look(self) -> tuple[float, float | None, float]:
        busy = busy_seconds(self._proc)
        ours = self._own() + process_seconds(self._app, self._proc) if busy is not None else 0.0
        return self._wall(), busy, ours
