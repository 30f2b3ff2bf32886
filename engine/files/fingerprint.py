"""Telling model files apart by their contents, without reading gigabytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

SPAN = 1024 * 1024
WHOLE = 2 * SPAN
"""Bytes up to which a fingerprint goes over all of a file: of those, equal fingerprints mean equal contents. Of a
larger one the middle is not looked at."""


def fingerprint(path: Path) -> str:
    """SHA-256 over a file's size, first MiB and last MiB: tells files apart in a millisecond, whatever their size."""
    return mark_of(path).fingerprint


class Mark(NamedTuple):
    """A file as it was at one moment. ``size``: in bytes."""

    size: int
    fingerprint: str


def mark_of(path: Path) -> Mark:
    """Size and :func:`fingerprint` of one and the same file. Raises OSError."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest.update(size.to_bytes(8, "little"))
        file.seek(0)
        digest.update(file.read(SPAN))
        file.seek(max(0, size - SPAN))
        digest.update(file.read(SPAN))
    return Mark(size, digest.hexdigest())
