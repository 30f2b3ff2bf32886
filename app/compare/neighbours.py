"""Whether somebody else is using the machine while something is measured."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.files.machine import PROC, busy_seconds, process_seconds

BUSY = 0.15
"""Cores' worth of foreign work from which a run counts as taken beside a busy neighbour."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """CPU seconds spent since boot by everybody, and by the processes of the measurement; None where unknown."""

    when: float
    everybody: float | None
    ours: float


class Neighbours:
    """Cores' worth of work that other processes did between two moments (Linux; elsewhere unknown)."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc

    def look(self, pids: Iterable[int]) -> Snapshot:
        """Now. ``pids``: the measurement's own processes."""
        ours = sum(process_seconds(pid, self._proc) for pid in pids)
        return Snapshot(time.perf_counter(), busy_seconds(self._proc), ours)


def foreign(before: Snapshot, after: Snapshot) -> float | None:
    """Cores' worth of work between two snapshots that was not ours (time stolen by other virtual machines
    included). Over less than a fifth of a second the clock ticks are too coarse: None."""
    wall = after.when - before.when
    if before.everybody is None or after.everybody is None or wall < 0.2:
        return None
    return max(0.0, (after.everybody - before.everybody - (after.ours - before.ours)) / wall)
