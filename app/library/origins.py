"""Where a file in the models folder came from: a small hidden file beside it.

It says that Slipstream fetched the file, so it may delete it, and which hash the hub announced, so the file can be
compared later without the hub. It is written when the file is whole and names the file's size and time of change: a
file without one, or with one that speaks of another file, was put there by somebody else and is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.files.kept import read_kept
from engine.files.whole import write_whole

_VERSION: Final = 1
_MOST_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Origin:
    """What was known of a file when it was asked for. Nothing in it is secret."""

    repo: str
    revision: str
    path: str
    """Inside the repository."""
    size: int
    sha256: str | None = None
    git_sha1: str | None = None
    """Of a small file, for which the hub knows no SHA-256."""
    changed: int | None = None
    """The file's time of change in nanoseconds when it was whole."""
    damaged: int | None = None
    """Its time of change when it was read again and had another hash; None: that was never so."""

    def hasher(self) -> Any:
        """A fresh hash of the kind that is known; None when neither is."""
        if self.sha256 is not None:
            return hashlib.sha256()
        if self.git_sha1 is not None:
            return hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        return None

    @property
    def expected(self) -> str | None:
        """The hash that the whole file must have."""
        return self.sha256 or self.git_sha1


def beside(file: Path) -> Path:
    """The hidden file for ``file``."""
    return file.with_name(f".{file.name}.origin")


def read_origin(file: Path) -> Origin | None:
    """What is kept of ``file``; None where nothing is, or nothing that makes sense."""
    try:
        found = json.loads(read_kept(beside(file), _MOST_BYTES))
        if found.pop("version") != _VERSION:
            return None
        origin = Origin(**found)
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    texts = (origin.repo, origin.revision, origin.path)
    hashes = (origin.sha256, origin.git_sha1)
    sound = all(isinstance(text, str) for text in texts) and isinstance(origin.size, int)
    sound = sound and all(when is None or isinstance(when, int) for when in (origin.changed, origin.damaged))
    return origin if sound and all(value is None or isinstance(value, str) for value in hashes) else None


def write_origin(file: Path, origin: Origin, bytes_at: Path | None = None) -> None:
    """Keep ``origin`` beside ``file``, which is whole: the whole note or none. ``bytes_at``: where the file is now, if
    it has yet to get its name. OSError when the folder cannot be written, or the file is not there."""
    _write(file, replace(origin, changed=(bytes_at or file).stat().st_mtime_ns, damaged=None))


def own_origin(file: Path) -> Origin | None:
    """What is kept of ``file``, if it is the very file that Slipstream fetched; None for any other."""
    origin = read_origin(file)
    if origin is None:
        return None
    try:
        status = file.stat()
    except OSError:
        return None
    return origin if (status.st_size, status.st_mtime_ns) == (origin.size, origin.changed) else None


def note_damage(file: Path, *, damaged: bool) -> None:
    """Keep in the note of ``file``, which was just read whole, whether it had another hash. Where the note cannot be
    written, only the memory of it is lost."""
    origin = read_origin(file)
    with contextlib.suppress(OSError):
        now = file.stat().st_mtime_ns if damaged else None
        if origin is not None and origin.damaged != now:
            _write(file, replace(origin, damaged=now))


def is_damaged(file: Path) -> bool:
    """Whether ``file``, as it is now, was found to have another hash than the announced one."""
    origin = read_origin(file)
    try:
        return origin is not None and origin.damaged is not None and origin.damaged == file.stat().st_mtime_ns
    except OSError:
        return False


def _write(file: Path, origin: Origin) -> None:
    write_whole(beside(file), json.dumps({"version": _VERSION, **asdict(origin)}).encode())


def forget_origin(file: Path) -> None:
    """Remove the note, as when the file is gone."""
    with contextlib.suppress(OSError):
        beside(file).unlink(missing_ok=True)
