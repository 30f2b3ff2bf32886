"""A file on its way: ``NAME.part``, checked when it is taken up again, hashed while it grows, renamed when whole."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Literal

from app.library.transfer import sidecar
from app.library.transfer.plain import open_plain
from app.library.transfer.sidecar import FRESH, PART, SIDECAR, Sidecar, beside
from app.library.transfer.wanted import Hasher, Wanted

BLOCK = 1 << 20

CHECKPOINT_BYTES = 64 << 20
CHECKPOINT_SECONDS = 10.0
"""The bytes received are forced to the disk this often: what lies behind may be lost in a power cut."""

Found = Literal["nothing", "beginning", "foreign", "damaged"]


class Part:
    """One file's bytes so far. Whoever uses it holds the file's lock."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.path = beside(wanted.path, PART)
        self._sidecar_path = beside(wanted.path, SIDECAR)
        self._sidecar = Sidecar.of(wanted)
        self._file: FileIO | None = None
        self._hasher: Hasher = wanted.hasher()
        self._checked_at = time.monotonic()
        self.length = 0

    @property
    def validator(self) -> str | None:
        return self._sidecar.validator

    def open(self, watch: Callable[[int], None]) -> Found:
        """Open what an earlier run has left, or begin. ``watch`` is told how far the reading is, and may raise."""
        kept, size = sidecar.read(self._sidecar_path), _size(self.path)
        if size is None and not self.path.is_symlink():
            self._sidecar.write(self._sidecar_path)  # first, so that no part is ever without
        self._file = FileIO(self.path, "x+" if size is None else "r+", opener=open_plain)
        found = self._judge(kept, size or 0)
        if found == "beginning":
            if kept is not None:
                same_place = kept.url == self._wanted.public_url
                url, validator = self._wanted.public_url, kept.validator if same_place else None
                self._sidecar = replace(kept, url=url, validator=validator)
            else:
                self._sidecar.write(self._sidecar_path)
            if not self._read_again(size or 0, watch):
                found = "damaged"
        if found != "beginning":
            self.restart()
        return found

    def _judge(self, kept: Sidecar | None, size: int) -> Found:
        if size == 0:
            return "nothing"
        if kept is not None and not kept.is_for(self._wanted):
            return "foreign"
        if size > self._wanted.size:
            return "damaged"
        # Without a sidecar: with a hash to tell in the end, the bytes are worth a try.
        return "beginning" if kept is not None or self._wanted.expected else "foreign"

    def write(self, data: bytes) -> None:
        """Append. An error leaves a beginning that the next run can use."""
        assert self._file is not None
        view = memoryview(data)
        while view:
            written = self._file.write(view) or 0
            self._hasher.update(view[:written])
            self.length += written
            view = view[written:]
        far = self.length - self._sidecar.good >= CHECKPOINT_BYTES
        if far or time.monotonic() - self._checked_at >= CHECKPOINT_SECONDS:
            self.checkpoint()

    def served_as(self, validator: str | None) -> None:
        """Note the ETag that the server's bytes come with."""
        if validator != self._sidecar.validator:
            self._sidecar = replace(self._sidecar, validator=validator)
            self._sidecar.write(self._sidecar_path)

    def checkpoint(self) -> None:
        """Force what is there to the disk, and say so in the sidecar."""
        assert self._file is not None
        self._checked_at = time.monotonic()
        if self.length != self._sidecar.good:
            os.fsync(self._file.fileno())
            self._sidecar = replace(self._sidecar, good=self.length, digest=self._hasher.hexdigest())
            self._sidecar.write(self._sidecar_path)

    def restart(self) -> None:
        """Throw away what is there."""
        assert self._file is not None
        self._file.truncate(0)
        self._file.seek(0)
        self._hasher = self._wanted.hasher()
        self.length = 0
        self._sidecar = Sidecar.of(self._wanted)
        self._sidecar.write(self._sidecar_path)

    def finish(self) -> str | None:
        """Force the whole file to the disk; the hash it has, where that is not the one it should have."""
        assert self._file is not None
        os.fsync(self._file.fileno())
        found = self._hasher.hexdigest()
        return found if self._wanted.expected not in (None, found) else None

    def close(self, *, quick: bool = False) -> None:
        """Let go of the file, and leave none that is empty; ``quick`` does not wait for the disk. Never raises."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if not quick:
                self.checkpoint()
        self._close_file()
        with contextlib.suppress(OSError):
            if not _size(self.path):
                self.remove()

    def publish(self) -> None:
        """Give the whole file its name. Only now can anything take it for a model."""
        self._close_file()
        os.replace(self.path, self._wanted.path)
        _sync_folder(self._wanted.path.parent)
        self._tidy(self._sidecar_path)

    def remove(self) -> None:
        """Leave nothing."""
        self._close_file()
        self._tidy(self.path, self._sidecar_path)

    def _tidy(self, *files: Path) -> None:
        for file in (*files, beside(self._wanted.path, FRESH)):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)

    def _close_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _read_again(self, size: int, watch: Callable[[int], None]) -> bool:
        """Hash the kept bytes; false when those that were safe on the disk are no longer what they were."""
        assert self._file is not None
        good, digest = self._sidecar.good, self._sidecar.digest
        if good > size:
            good, digest = 0, None
        if size > good and self._ends_in_zeros(size, good):
            size = good
            self._file.truncate(size)
        self._file.seek(0)
        while self.length < size:
            limit = good - self.length if self.length < good else size - self.length
            block = self._file.read(min(BLOCK, limit))
            if not block:
                break
            self._hasher.update(block)
            self.length += len(block)
            if self.length == good and digest is not None and self._hasher.hexdigest() != digest:
                return False
            watch(self.length)
        self._sidecar = replace(self._sidecar, good=good, digest=digest)
        return True

    def _ends_in_zeros(self, size: int, good: int) -> bool:
        """What a power cut can leave behind the bytes that were forced to the disk: a length without its contents."""
        assert self._file is not None
        tail = min(4096, size - good)
        self._file.seek(size - tail)
        return not any(self._file.read(tail) or b"")


def _size(file: os.PathLike[str]) -> int | None:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return None


def _sync_folder(folder: os.PathLike[str]) -> None:
    """So that the new name survives a power cut, where the platform can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
