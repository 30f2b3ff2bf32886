"""The files of the working folder, for completing ``@path``: looked for in a thread, and not without end."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from app.tui.background import aside
from app.tui.git_files import git_files

MOST_ENTRIES: Final = 20_000
"""Names that are looked at."""
FRESH_SECONDS: Final = 10.0
SKIPPED_FOLDERS: Final = frozenset(
    "node_modules __pycache__ venv env build dist target site-packages .git .venv .tox".split()
)
SKIPPED_ENDINGS: Final = tuple(
    ".pyc .so .o .a .dylib .dll .exe .bin .gguf .safetensors .pt .onnx .zip .gz .xz .bz2 .zst .tar .7z .whl .jar "
    ".class .png .jpg .jpeg .gif .webp .bmp .ico .tiff .heic .mp3 .mp4 .wav .flac .ogg .mov .mkv .avi .webm .pdf .docx "
    ".xlsx .pptx .odt .sqlite .db .woff .woff2 .ttf .otf".split()
)

FoldedPath = tuple[str, str]
"""A path as it is written, and casefolded."""


class WorkingFolder:
    """Knows the files once somebody has asked for them. Not for threads: its own one hands its find over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: Sequence[FoldedPath] = ()
        self._names: frozenset[str] = frozenset()
        self.looking = False
        self._looked_at: float | None = None

    @property
    def due(self) -> bool:
        """Whether it is time to look, for the first time or anew."""
        fresh = self._looked_at is not None and time.monotonic() - self._looked_at < FRESH_SECONDS
        return not self.looking and not fresh

    def has(self, path: str) -> bool:
        """Whether this is a file of the folder, as far as is known."""
        return path in self._names

    async def look(self, found: Callable[[], None]) -> None:
        """Look, and call ``found`` when that is done."""
        self.looking = True
        try:
            self.files = await aside(scan, self.folder)
            self._names = frozenset(path for path, _ in self.files)
        finally:
            self.looking, self._looked_at = False, time.monotonic()
        found()


def scan(folder: Path, most: int = MOST_ENTRIES) -> list[FoldedPath]:
    """Text files below ``folder`` as far as their names tell, nearest first, without hidden ones. In a repository of
    git's those that it does not ignore; elsewhere (and in a folder that is ignored itself) what :func:`walk` finds."""
    paths = git_files(folder, most) or walk(folder, most)
    return [(path, path.casefold()) for path in paths if _may_be_text(path)]


def walk(folder: Path, most: int) -> list[str]:
    """Files below ``folder``, nearest first; hidden ones and those that were built or installed are left out, links to
    folders are not followed."""
    found: list[str] = []
    folders = deque([""])
    seen = 0
    while folders and seen < most:
        inside = folders.popleft()
        try:
            with os.scandir(folder / inside) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in listed:
            seen += 1
            name = entry.name
            if seen > most:
                break
            if name.startswith(".") or not _may_be_mentioned(name):
                continue
            if not _is_folder(entry):
                found.append(f"{inside}{name}")
            elif name not in SKIPPED_FOLDERS and not name.endswith(".egg-info"):
                folders.append(f"{inside}{name}/")
    return found


def _may_be_text(path: str) -> bool:
    return _may_be_mentioned(path) and not path.lower().endswith(SKIPPED_ENDINGS)


def _may_be_mentioned(path: str) -> bool:
    return '"' not in path and path.isprintable()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
