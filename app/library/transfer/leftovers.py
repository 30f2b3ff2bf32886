"""Files that are not whole: what a models folder holds of them, read from the disk and from nothing else."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from app.library.transfer import sidecar
from app.library.transfer.lock import WriterLock
from app.library.transfer.plain import plain_size
from app.library.transfer.sidecar import FRESH, LOCK, PART, SIDECAR, beside


@dataclass(frozen=True)
class Unfinished:
    """A transfer that can be continued, or deleted with :func:`discard`."""

    path: Path
    """Where the whole file would be."""
    done: int
    """Bytes on the disk."""
    size: int | None
    """Of the whole file, where the sidecar still says so."""
    url: str | None
    """Where it comes from, without query."""
    expected: str | None = field(default=None, compare=False)
    """The hash of the whole file, where the sidecar still says so."""


def find_unfinished(folder: Path) -> list[Unfinished]:
    """What is kept below a folder, by path. One may be in progress in another process."""
    found: list[Unfinished] = []
    for place, folders, names in os.walk(folder, followlinks=True):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < 4 else []
        for name in sorted(names):
            if not name.endswith(PART):
                continue
            path = Path(place) / name.removesuffix(PART)
            kept = sidecar.read(beside(path, SIDECAR))
            if (done := plain_size(beside(path, PART))) is not None:  # a link there is not ours
                size, url, expected = (kept.size, kept.url, kept.expected) if kept else (None, None, None)
                found.append(Unfinished(path, done, size, url, expected))
    return found


def discard(path: Path) -> bool:
    """Throw away what is kept of the file that would be at ``path``; false while somebody is fetching it."""
    if not path.parent.is_dir():
        return True
    lock = WriterLock(beside(path, LOCK))
    if not lock.take():
        return False
    try:
        for suffix in (PART, SIDECAR, FRESH):
            beside(path, suffix).unlink(missing_ok=True)
    finally:
        lock.release()
    return True


def tidy(path: Path) -> None:
    """Remove what a kill right behind the renaming left beside a whole file, which nobody continues."""
    beside_it = [beside(path, suffix) for suffix in (SIDECAR, FRESH, LOCK)]
    if not os.path.lexists(beside(path, PART)) and any(os.path.lexists(file) for file in beside_it):
        with contextlib.suppress(OSError):
            discard(path)
