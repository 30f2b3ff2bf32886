"""Whether a program has a file in its memory: deleted, its bytes are free only when that program ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")


def mapped(files: Iterable[Path], proc: Path = PROC) -> tuple[Path, ...]:
    """Those of ``files`` that a process of this machine has mapped, as far as it lets itself be looked at (Linux;
    elsewhere none)."""
    wanted = {os.path.realpath(file): file for file in files}
    found: set[Path] = set()
    with contextlib.suppress(OSError):
        for process in proc.iterdir():
            if process.name.isdigit() and len(found) < len(wanted):
                found |= {wanted[name] for name in _names(process / "maps") if name in wanted}
    return tuple(sorted(found))


def _names(maps: Path) -> set[str]:
    """The files that a process has mapped: the sixth word of each line and what follows."""
    with contextlib.suppress(OSError):  # it has ended, or is another user's
        lines = os.fsdecode(maps.read_bytes()).split("\n")
        return {words[5] for line in lines if len(words := line.split(maxsplit=5)) == 6}
    return set()
