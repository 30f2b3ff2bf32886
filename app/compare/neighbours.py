"""Whether somebody else is using the machine while something is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

    def look(self, pids: Iterable[int]) -> Snapshot:
        """Now. ``pids``: the measurement's own processes."""
        return Snapshot(time.perf_counter(), self._everybody(), sum(self._one(pid) for pid in pids))

    def _everybody(self) -> float | None:
        try:
            fields = (self._proc / "stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return None
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields)
        return (user + nice + system + irq + softirq + steal) / self._tick

    def _one(self, pid: int) -> float:
        try:
            words = (self._proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
            return (int(words[11]) + int(words[12])) / self._tick
        except (OSError, IndexError, ValueError):
            return 0.0


def foreign(before: Snapshot, after: Snapshot) -> float | None:
    """Cores' worth of work between two snapshots that was not ours (time stolen by other virtual machines
    included). Over less than a fifth of a second the clock ticks are too coarse: None."""
    wall = after.when - before.when
    if before.everybody is None or after.everybody is None or wall < 0.2:
        return None
    return max(0.0, (after.everybody - before.everybody - (after.ours - before.ours)) / wall)
