"""A file that is at its final place already: is it the one that is wanted?"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from app.library.transfer.part import BLOCK
from app.library.transfer.plain import plain_size
from app.library.transfer.sidecar import PART, beside
from app.library.transfer.wanted import Wanted
from engine.files.sizes import two_sizes


def difference(wanted: Wanted, watch: Callable[[int], None]) -> str | None:
    """Nothing when no file is there, an empty text when it is the right one, else what is wrong with it.

    ``watch`` is told how far the reading is, and may raise.
    """
    try:
        if wanted.path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(wanted.path))
        found = wanted.path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None
    if found != wanted.size:
        there, asked = two_sizes(found, wanted.size)
        return f"it has {there} instead of {asked}"
    if wanted.expected is not None and _hash_of(wanted, watch) != wanted.expected:
        return f"its {wanted.hash_name} is another one"
    return ""


def size_of(file: Path) -> int:
    """Bytes, 0 for a file that is not there."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def kept_of(path: Path) -> int:
    """Bytes that are kept of the file that would be at ``path``, while it is not whole."""
    return plain_size(beside(path, PART)) or 0


def _hash_of(wanted: Wanted, watch: Callable[[int], None]) -> str:
    hasher, done = wanted.hasher(), 0
    with open(wanted.path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            watch(done)
            hasher.update(block)
            done += len(block)
    return hasher.hexdigest()
