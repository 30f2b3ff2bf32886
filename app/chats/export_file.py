"""Where an export goes: a new file, named after the chat, beside whatever is there already."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

from app.links import no_folder_words

NAMELESS: Final = "chat"
LONGEST: Final = 60
"""Characters of a title in a file name; file systems allow 255 bytes, and a character may take four."""

_RESERVED: Final = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
"""Names that Windows keeps for devices."""


class ExportError(Exception):
    """Nothing was written; ``str(error)`` is a sentence that says why and what to do."""


def file_name(title: str) -> str:
    """``title`` as a name that every file system takes and no shell minds, without an ending: letters and digits of
    all scripts, the rest as single dashes."""
    plain = unicodedata.normalize("NFC", title)
    kept = "".join(char if _is_kept(char) else " " for char in plain)
    name = "-".join(kept.split())[:LONGEST].strip("-._")
    if not name:
        return NAMELESS
    return f"{NAMELESS}-{name}" if name.lower().split(".")[0] in _RESERVED else name


def write_new(folders: Sequence[Path], name: str, text: str) -> Path:
    """Write ``text`` to a new file ``name`` in the first of ``folders`` that takes it; where there is such a file
    already it becomes ``name-2``. Readable by its owner only, as the chats are. :class:`ExportError` when all fail."""
    failed = []
    for folder in folders:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _written(folder, Path(name), text.encode("utf-8"))
        except OSError as error:
            failed.append(f"{folder}: {no_folder_words(error, folder)}")
    raise ExportError(
        f"Nothing was exported ({'; '.join(failed)}). The chat is as it was; make room, or start Slipstream in a "
        "folder that can be written to."
    )


def _written(folder: Path, name: Path, content: bytes) -> Path:
    for number in count(1):
        file = folder / (name.name if number == 1 else f"{name.stem}-{number}{name.suffix}")
        try:
            with open(file, "xb", opener=_private) as stream:
                try:
                    stream.write(content)
                    stream.flush()
                except OSError:
                    file.unlink(missing_ok=True)  # half a chat under the name of the whole one
                    raise
        except FileExistsError:
            continue
        return file
    raise AssertionError("unreachable")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_kept(char: str) -> bool:
    return char in "-_." or unicodedata.category(char)[0] in "LNM"
