"""What this machine lets the engine use: cores, and the environment that must be set before ggml loads."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

ENGINE_DEFAULTS: dict[str, str] = {
    # Passes of 8 tokens and more take the same kernels as single ones; ggml reads it once, at first use.
    "GGML_CPU_TILED_MM": "0",
    # How long libgomp spins at a barrier. Its default makes a pass a hundred times slower as soon as a neighbour
    # process is busy; up to 1,000 keeps a fair share (measured). Only libgomp reads it, when it loads.
    "GOMP_SPINCOUNT": "1000",
    # A failed check forks a debugger for a backtrace; two threads that fail together then wait for each other for ever.
    "GGML_NO_BACKTRACE": "1",
}
"""Variables of the engine process that the user has not set."""

FOLDER_VARIABLE = "SLIPSTREAM_ENGINE_CACHE"
"""Environment variable that names the folder for what the engine learned; without it nothing is kept."""


def engine_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the engine process: ``base`` (default: this process's) plus our defaults where it is silent.

    A wait policy chosen by the user stays in force, so the spin count is then left alone.
    """
    environment = dict(os.environ if base is None else base)
    for name, value in ENGINE_DEFAULTS.items():
        if name == "GOMP_SPINCOUNT" and "OMP_WAIT_POLICY" in environment:
            continue
        environment.setdefault(name, value)
    return environment


def usable_cores(root: Path = Path("/")) -> tuple[int, str]:
    """How many threads are worth starting, and how that came about in words.

    Physical cores (hyper-threads share the units that matrix products need) within this process's affinity and
    its cgroup's CPU quota; at least 1. ``root`` is the file system to read, for tests.
    """
    try:
        logical = os.sched_getaffinity(0)
    except AttributeError:  # macOS, Windows
        count = os.cpu_count() or 1
        return count, f"{count} logical cores"
    cores = _physical(logical, root)
    words = f"{cores} core{'s' * (cores != 1)} in the affinity mask"
    if cores != len(logical):
        words += f" ({len(logical)} hardware threads)"
    quota = _cgroup_quota(root)
    if quota is not None and quota < cores:
        cores = max(1, math.floor(quota))
        words += f", limited to {quota:g} by the cgroup quota"
    return cores, words


def _physical(logical: set[int], root: Path) -> int:
    siblings = set()
    for cpu in logical:
        try:
            siblings.add((root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text())
        except OSError:
            return len(logical)
    return max(1, len(siblings))


def _cgroup_quota(root: Path) -> float | None:
    """CPUs' worth of time that this process's cgroup and its ancestors allow, the tightest; None: no limit."""
    quotas: list[float] = []
    try:
        entries = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for entry in entries:
        _, controllers, path = entry.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / (controllers if controllers else "")
        folder = base / path.lstrip("/")
        while True:
            quota = _read_v1(folder) if controllers else _read_v2(folder)
            if quota is not None:
                quotas.append(quota)
            if folder == base or base not in folder.parents:
                break
            folder = folder.parent
    return min(quotas, default=None)


def _read_v2(folder: Path) -> float | None:
    try:
        limit, period = (folder / "cpu.max").read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        return None


def _read_v1(folder: Path) -> float | None:
    try:
        limit = int((folder / "cpu.cfs_quota_us").read_text())
        return None if limit <= 0 else limit / int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that can be had without pushing others out; None where the system does not say (macOS, Windows)."""
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
