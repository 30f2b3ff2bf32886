"""The machine under the benchmark: what it is, how fast its memory is, and whether somebody else is using it."""

from __future__ import annotations

import os
import platform
import re
import sys
import threading
import time
from pathlib import Path

import numpy as np

from app.compare.neighbours import BUSY, Neighbours, Snapshot, foreign

__all__ = ["BUSY", "Neighbours", "Snapshot", "copy_rate", "describe", "foreign", "load_average"]


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
