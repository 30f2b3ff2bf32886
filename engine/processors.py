"""What the machine's processors have done since it started, and a process's part of it (Linux; elsewhere unknown)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
"""Of the kernel's clock, in a second."""


def busy_seconds(proc: Path = PROC) -> float | None:
    """Seconds that all processors together worked for anybody, time stolen by other virtual machines included."""
    try:
        fields = (proc / "stat").read_text().split("\n", 1)[0].split()[1:9]
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields)
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / TICKS


def process_seconds(pid: int, proc: Path = PROC) -> float:
    """Seconds that processors worked for this process; 0 where that is not known."""
    try:
        words = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / TICKS
    except (OSError, IndexError, ValueError):
        return 0.0
