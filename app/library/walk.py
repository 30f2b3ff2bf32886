"""Walking a folder of somebody else's: links, loops, odd names and unfinished files included."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.clean import clean, clean_line
from app.links import NOWHERE, dead_link

MOST_FOLDERS: Final = 20_000
MOST_DEPTH: Final = 8

_HALF: Final = re.compile(
    r"\.(?:part|partial|incomplete|download|downloadinprogress|crdownload|aria2|tmp|temp)$|-partial(?:-\d+)?$",
    re.IGNORECASE,
)
_BESIDE: Final = (".aria2", ".incomplete", ".downloadInProgress")
"""A file of this name beside a model means that the model is being written: some tools write in place."""
_PART, _SIDECAR = ".part", ".part.json"
"""Means the same, unless the part is one of Slipstream's: that is a file of its own, renamed when it is whole. Such a
part lies in our folder or has our note beside it."""


BEING_WRITTEN: Final = "it is still being written"
DEAD_LINK: Final = "it is a link to a file that is gone"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not offered, and why, in one phrase."""

    path: Path
    origin: str
    reason: str
    name: str = field(default="", compare=False)
    """What its tool calls it; the reason may begin with that."""
    expected: bool = field(default=False, compare=False)
    """Nothing is wrong with it: a download under way, or another format."""

    @property
    def shown(self) -> str:
        """The path as it may be shown."""
        return clean_line(str(self.path), 400)


def plain_name(name: str) -> bool:
    """Whether a file's name is text that may be shown as it is: no control codes, nothing that is no UTF-8."""
    return clean(name) == name and not any(ord(character) < 32 for character in name)


def half_written(name: str) -> bool:
    """Whether a file of this name is a download that has not ended."""
    return _HALF.search(name) is not None


def is_gguf_name(name: str) -> bool:
    """Whether a file says that it is a model."""
    return name.lower().endswith(".gguf")


def walk(folder: Path, origin: str, *, depth: int = MOST_DEPTH, ours: bool = False) -> Iterator[Path | LeftOut]:
    """Every model file below ``folder``, by name, down to ``depth`` folders; hidden folders are passed over. ``ours``:
    it is the folder that Slipstream downloads to.

    Links are followed, each folder is entered once. Never raises.
    """
    visited: set[tuple[int, int]] = set()
    waiting: list[tuple[Path, int]] = [(folder, 0)]
    while waiting:
        place, level = waiting.pop()
        try:
            status = place.stat()
        except (FileNotFoundError, NotADirectoryError):
            if (dead := dead_link(place)) is not None:
                yield LeftOut(dead, origin, NOWHERE)
            continue
        except OSError as error:
            yield LeftOut(place, origin, unreadable(error))
            continue
        if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in visited:
            continue
        if len(visited) >= MOST_FOLDERS:
            yield LeftOut(folder, origin, f"it holds more than {MOST_FOLDERS:,} folders; the rest was not looked at")
            return
        visited.add((status.st_dev, status.st_ino))
        entries = listed(place, origin)
        if isinstance(entries, LeftOut):
            yield entries
            continue
        names = {entry.name for entry in entries}
        folders: list[Path] = []
        for entry in entries:
            path = Path(entry.path)
            if _is_folder(entry):
                if level < depth and not entry.name.startswith("."):
                    folders.append(path)
            elif (found := judged(path, names, origin, ours=ours)) is not None:
                yield found
        waiting += [(path, level + 1) for path in reversed(folders)]


def judged(path: Path, beside: set[str], origin: str, *, ours: bool = False) -> Path | LeftOut | None:
    """What a file's name and kind say: its path, why it is left out, or None when it is no model at all."""
    name = path.name
    if half_written(name):
        return LeftOut(path, origin, BEING_WRITTEN, expected=True) if ".gguf" in name.lower() else None
    if not is_gguf_name(name):
        return None
    if not plain_name(str(path)):
        return LeftOut(path, origin, "its name holds control codes")
    part = name + _PART in beside and not (ours or name + _SIDECAR in beside)
    if part or any(name + ending in beside for ending in _BESIDE):
        return LeftOut(path, origin, BEING_WRITTEN, expected=True)
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return LeftOut(path, origin, why_not(path, error))
    return path if regular else LeftOut(path, origin, "it is no regular file")


def why_not(path: Path, error: OSError) -> str:
    """Why a file cannot be looked at, in one phrase."""
    if path.is_symlink() and isinstance(error, FileNotFoundError):
        return DEAD_LINK
    return f"it cannot be read: {(error.strerror or str(error)).lower()}"


def unreadable(error: OSError) -> str:
    """Why a folder is passed over, in one phrase."""
    return f"the folder cannot be read: {(error.strerror or str(error)).lower()}"


def listed(folder: Path, origin: str) -> list[os.DirEntry[str]] | LeftOut:
    """A folder's entries by name; nothing where it does not exist; why not, where it may not be read, or is a link that
    leads nowhere."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        dead = dead_link(folder)
        return [] if dead is None else LeftOut(dead, origin, NOWHERE)
    except OSError as error:
        return LeftOut(folder, origin, unreadable(error))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False
