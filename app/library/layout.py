"""Where a file of the hub lies in the models folder, and which names are too dangerous to be put there.

The layout is ``models/OWNER/REPO/PATH``, the one that LM Studio and ``hf download --local-dir`` use as well. A
repository's names are foreign text: a name that is safe here is safe on Linux, macOS and Windows alike, so a models
folder can be carried from one to the other.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

DEEPEST = 3
"""Folders and file of a path inside a repository; the search of the models folder looks no deeper."""

_LONGEST_PART = 200
"""Bytes: file systems end at 255, and the transfer appends to the name."""

_REPO = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?/[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?", re.ASCII)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def wrong_repo(repo: str) -> str | None:
    """Why ``repo`` cannot be a repository of the hub, or None when it can: ``it is not OWNER/NAME``."""
    if not _REPO.fullmatch(repo):
        return "it is not OWNER/NAME"
    if "--" in repo or ".." in repo or repo.lower().endswith(".git"):
        return "such names are not given on the hub"
    return next((why for part in repo.split("/") if (why := _wrong_part(part))), None)


def wrong_path(path: str) -> str | None:
    """Why a file of this name is not stored, or None when it can be: ``it leads out of its folder``."""
    if not path:
        return "it is empty"
    if path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", path):
        return "it is not relative to the repository"
    parts = re.split(r"[/\\]", path)
    if ".." in parts:
        return "it leads out of its folder"
    if len(parts) > DEEPEST:
        return f"it lies deeper than {DEEPEST - 1} folders"
    return next((why for part in parts if (why := _wrong_part(part))), None)


def place(models_dir: Path, repo: str, path: str) -> Path:
    """Where the file ``path`` of ``repo`` lies in the models folder; ``ValueError`` for a name that is refused."""
    if why := wrong_repo(repo) or wrong_path(path):
        raise ValueError(f"{repo}/{path}: {why}")
    return models_dir.joinpath(*repo.split("/"), *path.split("/"))


def part_file(destination: Path) -> Path:
    """The unfinished file beside ``destination``; its size says how much is here."""
    return destination.with_name(destination.name + ".part")


def same_place(path: str) -> str:
    """Equal for paths that are one file on a disk that knows no upper and lower case, or composes accents."""
    return unicodedata.normalize("NFC", path).casefold()


def _wrong_part(part: str) -> str | None:
    if any(unicodedata.category(character) in _UNPRINTABLE for character in part):
        return "it has control codes in it"
    if not part or part == ".":
        return "a part of it is empty"
    if part.startswith((".", " ")) or part.endswith((".", " ")):
        return "a part of it begins or ends with a dot or a space"
    if found := _NOT_ON_WINDOWS.search(part):
        return f"Windows allows no {found[0]} in a name"
    if _DEVICE.fullmatch(part):
        return "Windows keeps that name for a device"
    if len(part.encode()) > _LONGEST_PART:
        return "it is too long"
    return None
