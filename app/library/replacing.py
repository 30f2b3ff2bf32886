"""A file of the user's own that lies where a download would go.

It is replaced only when the person has seen what would be lost and agreed to it, only as long as it is that very file,
and never when it is a link or lies outside the models folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from app.library.records import ShelfError
from engine.files.sizes import size_words

BLOCK: Final = 1 << 20

Watch = Callable[[Path, int, int], None]
"""Told which file is read, how many bytes of it are read and how many there are."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Such a file as it was when the person was asked."""

    path: Path
    size: int
    changed: int
    """Its time of change in nanoseconds."""
    sha256: str

    @property
    def words(self) -> str:
        """What would be lost: ``/models/a.gguf, 1.2 GB, changed 2026-11-30 01:07, SHA-256 1a2b3c4d``."""
        changed = datetime.fromtimestamp(self.changed / 1e9)
        return f"{self.path}, {size_words(self.size)}, changed {changed:%Y-%m-%d %H:%M}, SHA-256 {self.sha256[:8]}"

    @property
    def is_there(self) -> bool:
        """Whether that file, unchanged, is still what lies there."""
        try:
            found = self.path.lstat()
        except OSError:
            return False
        return stat.S_ISREG(found.st_mode) and (found.st_size, found.st_mtime_ns) == (self.size, self.changed)


def look_at(path: Path, watch: Watch) -> Standing:
    """Read the file whole. :class:`ShelfError` when that cannot be done."""
    digest, done = hashlib.sha256(), 0
    try:
        with open(path, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            while block := file.read(BLOCK):
                digest.update(block)
                done += len(block)
                watch(path, done, found.st_size)
    except OSError as error:
        raise ShelfError(
            f"{path} could not be read, so what would be lost cannot be shown ({error.strerror or error}); "
            "nothing was changed. Move or delete it, then start again."
        ) from error
    return Standing(path, found.st_size, found.st_mtime_ns, digest.hexdigest())


def why_it_stays(path: Path, models_dir: Path) -> str:
    """Why Slipstream would not replace what lies at ``path`` even if it was told to; empty when it would."""
    try:
        if path.is_symlink():
            return f"it is a link to {os.readlink(path)}, and links are never replaced"
        if not stat.S_ISREG(path.lstat().st_mode):
            return "it is no plain file"
        if not path.parent.resolve().is_relative_to(models_dir.resolve()):
            return f"it lies outside {models_dir}, behind a link"
    except OSError as error:
        return f"it cannot be looked at ({error.strerror or error})"
    return ""
