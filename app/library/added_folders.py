"""Folders with models that the user added: one path a line, in a small file that may be edited by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.library.walk import plain_name
from app.links import dead_link
from app.paths import FolderError, ensure
from engine.files.whole import write_whole

_HEAD: Final = "# Folders that Slipstream looks for models in, one a line. It reads them and writes nothing there.\n"
_MOST_BYTES: Final = 1_000_000


class AddedFolderError(Exception):
    """A folder cannot be added or taken out; the message is one sentence for people."""


def added_folders(file: Path) -> list[Path]:
    """The folders that ``file`` lists, in order. A file that is missing or cannot be read lists none."""
    return list(dict.fromkeys(folder for line in _lines(file) if (folder := _folder(line)) is not None))


def add_folder(file: Path, folder: Path) -> Path:
    """Add ``folder`` to the list; returns it as it is kept. Raises AddedFolderError."""
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        if (dead := dead_link(folder)) is not None:
            it = folder if dead == folder else f"{folder} does not exist: {dead}"
            raise AddedFolderError(f"{it} is a link that leads nowhere; a folder with model files is wanted.")
        raise AddedFolderError(f"{folder} {what}; a folder with model files is wanted.")
    if not plain_name(str(folder)) or str(folder) != str(folder).strip():
        raise AddedFolderError(
            "The folder's name holds control codes or ends in a space; it cannot be kept in the list."
        )
    if folder not in added_folders(file):
        lines = _lines(file)
        _write(file, [*lines, str(folder)] if lines else [_HEAD.rstrip("\n"), str(folder)])
    return folder


def remove_folder(file: Path, folder: Path) -> bool:
    """Take ``folder`` out of the list; its files stay where they are. False when it was not in the list."""
    folder = folder.expanduser().absolute()
    lines = _lines(file)
    kept = [line for line in lines if _folder(line) != folder]
    if len(kept) == len(lines):
        return False
    _write(file, kept)
    return True


def _folder(line: str) -> Path | None:
    """The folder a line names; None for comments and for what names none."""
    if not line or line.startswith("#") or not plain_name(line):
        return None
    try:
        folder = Path(line).expanduser()
    except RuntimeError:  # the home of a user who does not exist
        return None
    return folder if folder.is_absolute() else None


def _lines(file: Path) -> list[str]:
    try:
        if not file.is_file():  # opening a pipe would wait for ever
            return []
        with open(file, encoding="utf-8", errors="replace") as opened:
            return [line.strip() for line in opened.read(_MOST_BYTES).splitlines()]
    except OSError:
        return []


def _write(file: Path, lines: list[str]) -> None:
    """The whole file or nothing."""
    try:
        ensure(file.parent)
        write_whole(file, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise AddedFolderError(f"{file} cannot be written: {error.strerror or error}.") from error
    except FolderError as error:
        raise AddedFolderError(str(error)) from error
