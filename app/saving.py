"""A text of the chat as a file: never over another one."""

from __future__ import annotations

import contextlib
import datetime
import re
from itertools import count
from pathlib import Path
from typing import Final

from app.links import no_folder_words

NAME_BYTES: Final = 120
"""Of the title in a file's name; file systems allow 255 for all of it."""

_NO_WORD: Final = re.compile(r"[^\w]+")


class NotSaved(Exception):
    """``str(error)`` says why, and what to do."""


def save_text(text: str, title: str, folder: str, now: datetime.datetime | None = None) -> Path:
    """Write ``text`` into ``folder`` (empty: the current one), into a Markdown file named for ``title`` and the time.
    Returns the file; raises :class:`NotSaved`."""
    try:
        where = Path(folder).expanduser() if folder else Path.cwd()
        where.mkdir(parents=True, exist_ok=True)
        return _write_new(text, where.absolute(), file_name(title, now or datetime.datetime.now()))
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        reason = no_folder_words(error, Path(folder).expanduser()) if isinstance(error, OSError) else str(error)
        raise NotSaved(
            f"Not saved: {folder or 'the current folder'} cannot be written to ({reason.lower()}). Start Slipstream in "
            "another folder, or name one as save_folder in settings.toml; c copies the text."
        ) from error


def file_name(title: str, now: datetime.datetime) -> str:
    """``Rivers-of-Europe-2026-11-29-150405``."""
    words = _NO_WORD.sub("-", title).strip("-")
    words = words.encode()[:NAME_BYTES].decode(errors="ignore").rstrip("-")
    return f"{words or 'answer'}-{now:%Y-%m-%d-%H%M%S}"


def _write_new(text: str, folder: Path, name: str) -> Path:
    for number in count(1):
        file = folder / (f"{name}.md" if number == 1 else f"{name}-{number}.md")
        try:
            with open(file, "x", encoding="utf-8", newline="") as opened:
                try:
                    opened.write(text)
                    opened.flush()
                except OSError:  # the disk is full: half an answer would look like one
                    with contextlib.suppress(OSError):
                        file.unlink()
                    raise
        except FileExistsError:
            continue
        return file
    raise AssertionError
