"""What there is room for on this machine: disk, memory, GPUs, cores. Nothing is asked that takes time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.library.transfer.disk import free_bytes
from engine.files.fit import ON_EACH_GPU, SURE, Fit, judge_fit
from engine.files.machine import available_memory, usable_cores
from engine.files.shape import Shape
from engine.protocol import Device


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes and cores; None where the system does not say."""

    disk: int | None
    memory: int | None
    free_memory: int | None
    cores: int
    gpus: tuple[Device, ...] = ()
    """Those with memory of their own, where an engine has said so; without an engine main memory alone counts."""

    @property
    def main(self) -> int | None:
        """Main memory that can be had now; all of it where it is not said how much is free."""
        return self.free_memory or self.memory

    @property
    def on_gpus(self) -> int:
        """Bytes that models can have of GPUs."""
        return sum(max(0, gpu.memory_free - ON_EACH_GPU) for gpu in self.gpus)

    def holds(self, needed: int) -> bool | None:
        """Whether so much memory can be had now; None: not known."""
        return None if self.main is None else needed <= self.main + self.on_gpus

    def words(self, needed: int) -> str:
        """``fits``, ``tight``, ``does not fit``, or that it is not known."""
        if self.main is None:
            return "how much is free is not known here"
        have = self.main + self.on_gpus
        return "fits" if needed * SURE <= have else "tight" if needed <= have else "does not fit"

    def fit(self, target: Shape, draft: Shape | None = None, context: int | None = None) -> Fit:
        """The estimate for files that are here, against what is there."""
        return judge_fit(target, draft, context=context, free=self.main, gpus=self.gpus)


def look(models_dir: Path, gpus: Sequence[Device] = ()) -> Room:
    """As it is at this moment."""
    return Room(free_bytes(models_dir), total_memory(), available_memory(), usable_cores()[0], tuple(gpus))


def total_memory() -> int | None:
    """Bytes of memory that are built in."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return None
