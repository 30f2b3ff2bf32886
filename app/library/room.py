"""What there is room for on this machine: disk, memory, cores. Nothing is asked that takes time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.library.transfer.disk import free_bytes
from engine.files.machine import available_memory, usable_cores

TIGHT = 1.15
"""An estimate of memory may be wrong by so much (engine.files.fit)."""


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes and cores; None where the system does not say."""

    disk: int | None
    memory: int | None
    free_memory: int | None
    cores: int

    def holds(self, needed: int) -> bool | None:
        """Whether so much memory can be had now; None: not known."""
        have = self.free_memory or self.memory
        return None if have is None else needed <= have

    def words(self, needed: int) -> str:
        """``fits``, ``tight``, ``does not fit``, or that it is not known."""
        have = self.free_memory or self.memory
        if have is None:
            return "how much is free is not known here"
        return "fits" if needed * TIGHT <= have else "tight" if needed <= have else "does not fit"


def look(models_dir: Path) -> Room:
    """As it is at this moment."""
    return Room(free_bytes(models_dir), total_memory(), available_memory(), usable_cores()[0])


def total_memory() -> int | None:
    """Bytes of memory that are built in."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return None
