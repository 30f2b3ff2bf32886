"""Reading a store that somebody else may be writing to: a query on a connection of its own, and nothing else."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class UnreadableStoreError(Exception):
    """The store is there and cannot be read. ``str()`` is the sentence for people."""

    def __init__(self, file: Path, error: sqlite3.Error) -> None:
        super().__init__(
            f"Your chats in {file} cannot be read now ({error}). Nothing was changed. If the chat is open, close it "
            "and try again; if the file is damaged, the chat takes over what can be read of it at its next start."
        )


def read_rows(file: Path, query: str, values: Sequence[int | None]) -> list[tuple[Any, ...]]:
    """What ``query`` finds; nothing where there is no store. Raises UnreadableStoreError."""
    if not file.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            return db.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise UnreadableStoreError(file, error) from error
