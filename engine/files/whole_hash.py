"""The SHA-256 of a whole model file. It is read once: what was found is kept for as long as the file is the same one.

That it is the same one is told by where it lies, its number in the file system, its size, and the times of its last
change, also that of its description, which nobody can set back: a file that was overwritten in the middle, and then got
its old time again, is read anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.files.header import Header
from engine.files.kept import read_kept
from engine.files.whole import write_whole

SOON: Final = 128 * 1024 * 1024
"""Bytes that are read in a blink: a file of no more is read at once when it is wanted, a larger one in idle time."""
BLOCK: Final = 4 * 1024 * 1024

_HASH: Final = re.compile(rb"[0-9a-f]{64}")
_SUFFIX: Final = ".whole"


class WholeHash:
    """Of the file that lies at ``path`` at this moment. ``value`` is None until it is known: kept from an earlier
    time, or found by :meth:`read`."""

    def __init__(self, path: Path, folder: Path | None) -> None:
        """``folder``: where such hashes are kept; None: nowhere, and nothing is known at first."""
        self._path, self._folder = path, folder
        self._standing = _standing(path)
        self.size = 0 if self._standing is None else self._standing[2]
        self.value = self._kept()
        self._given_up = folder is None  # it would be read at every load

    @property
    def unread(self) -> bool:
        """Whether :meth:`read` may still find it out."""
        return self.value is None and not self._given_up

    @classmethod
    def at_load(cls, header: Header, folder: Path | None) -> WholeHash:
        """Of the file that is opened next. One of several that a model is made of is not worth reading; a small one is
        read here and now."""
        found = cls(header.path, folder)
        if header.split is not None:
            found.value, found._given_up = None, True
        if found.unread and found.size <= SOON:
            for _ in found.read():
                pass
        return found

    def read(self) -> Iterator[int]:
        """Read it to its end, with the bytes so far after every block. ``value`` stays None where the file cannot be
        read, or was changed since this object was made: it would be the hash of something else."""
        digest, done = hashlib.sha256(), 0
        try:
            with open(self._path, "rb", buffering=0) as file:
                while done <= self.size and (block := file.read(BLOCK)):  # one that grows has no end
                    digest.update(block)
                    done += len(block)
                    yield done
        except OSError:
            done = -1
        self._given_up = True
        if done != self.size:
            return
        if _standing(self._path) == self._standing:
            self.value = digest.hexdigest()
            self._keep(self.value)

    def _kept(self) -> str | None:
        place = self._place()
        if place is None:
            return None
        try:
            found = read_kept(place, 64)
        except OSError:
            return None
        return found.decode() if _HASH.fullmatch(found) else None

    def _keep(self, value: str) -> None:
        """Where that is not possible, it is read again another time."""
        if (place := self._place()) is not None:
            with contextlib.suppress(OSError):
                place.parent.mkdir(parents=True, exist_ok=True)
                write_whole(place, value.encode())

    def _place(self) -> Path | None:
        if self._folder is None or self._standing is None:
            return None
        return self._folder / f"{hashlib.sha256(repr(self._standing).encode()).hexdigest()[:32]}{_SUFFIX}"


def _standing(path: Path) -> tuple[str, tuple[int, int], int, int, int] | None:
    """What is told of a file without reading it; None where there is none."""
    try:
        status = path.stat()
        where = str(path.resolve())
    except (OSError, ValueError, RuntimeError):
        return None
    return where, (status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns, status.st_ctime_ns
