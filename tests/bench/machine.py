"""The machine under the benchmark: what it is, how fast its memory is, and whether somebody else is using it."""

from __future__ import annotations

import os
import platform
import re
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BUSY = 0.15
"""Cores' worth of foreign work from which a run counts as taken beside a busy neighbour."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """CPU seconds spent since boot by everybody, and by the processes of the benchmark; None where unknown."""

    when: float
    everybody: float | None
    ours: float


class Neighbours:
    """Cores' worth of work that other processes did between two moments (Linux; elsewhere unknown)."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

    def look(self, pids: Iterable[int]) -> Snapshot:
        """Now. ``pids``: the benchmark's processes."""
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
    """Cores' worth of work between two snapshots that was not the benchmark's (time stolen by other virtual machines
    included). Over less than a fifth of a second the clock ticks are too coarse: None."""
    wall = after.when - before.when
    if before.everybody is None or after.everybody is None or wall < 0.2:
        return None
    return max(0.0, (after.everybody - before.everybody - (after.ours - before.ours)) / wall)


def copy_rate(threads: int, mebibytes: int = 512, seconds: float = 1.0) -> float:
    """Bytes a second that ``threads`` threads move when each copies its slice of one big numpy array to another.

    Bytes read and bytes written both count (as STREAM's copy does). The best of the rounds within ``seconds``.
    """
    source = np.ones(mebibytes * (1 << 20) // 8, np.float64)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))
    best, until = 0.0, time.perf_counter() + seconds
    while True:
        workers = [threading.Thread(target=np.copyto, args=(there, here)) for here, there in parts]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best = max(best, 2 * source.nbytes / (time.perf_counter() - started))
        if time.perf_counter() > until:
            return best


def load_average() -> float | None:
    """Of the last minute."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def describe() -> dict[str, str]:
    """Processor, memory, system, Python and the build of llama.cpp, without a path or a name of this machine."""
    described = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "python": platform.python_version(),
    }
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        described["memory"] = f"{memory / 2**30:.0f} GiB"
    except (ValueError, OSError, AttributeError):
        pass
    described["build flags"] = _build_flags(Path(sys.prefix) / ".llama")
    return described


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _build_flags(stamp: Path) -> str:
    """What scripts/install_llama.py noted: the CMake flags, or that it was a ready-made wheel (without its path)."""
    try:
        kind, _, rest = stamp.read_text(encoding="utf-8").strip().partition(" ")
    except OSError:
        return "unknown"
    return "a ready-made wheel" if kind == "wheel" else re.sub(r"/\S+", "...", rest)  # paths stay on this machine
