"""A damaged store: moved aside, never deleted, and everything that can still be read taken over."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any, Final, get_args

from app.chats import copying
from app.chats.records import MessageState, Notice, Role
from app.chats.words import title_from

Row = dict[str, Any]
Table = dict[int, Row]

_NEEDED: Final = frozenset(name for names in copying.COLUMNS.values() for name in names) - {
    "leaf",
    "deleted",
    "parent",
    "error",
    "writer",
    "finished",
    "receipt",
}


def move_aside(file: Path) -> Path:
    """Give a damaged store (with its write-ahead log) the name ``<store>.broken-<time>``; returns that."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = file.with_name(f"{file.name}.broken-{stamp}")
    count = 1
    while aside.exists():
        count += 1
        aside = file.with_name(f"{file.name}.broken-{stamp}-{count}")
    file.rename(aside)
    with contextlib.suppress(FileNotFoundError):
        file.with_name(file.name + "-wal").rename(aside.with_name(aside.name + "-wal"))
    with contextlib.suppress(FileNotFoundError):
        file.with_name(file.name + "-shm").unlink()  # an index of the log, made anew from it
    return aside


def take_over(aside: Path, store: sqlite3.Connection) -> Notice:
    """Copy what can be read of the damaged file into the new store; says how much that was."""
    try:
        chats, messages = _copy(aside, store)
    except (OSError, sqlite3.Error):
        chats, messages = 0, 0
    moved = f"The chat store could not be read. It was moved to {aside} and a new one was begun."
    if chats == 0:
        return Notice(f"{moved} No chat could be taken over; nothing in that file was changed.", "error")
    return Notice(
        f"{moved} {chats} chat{'s' if chats > 1 else ''} with {messages} message{'s' if messages > 1 else ''} could be "
        "taken over; if something is missing, it is in that file.",
        "error",
    )


def _copy(aside: Path, store: sqlite3.Connection) -> tuple[int, int]:
    import shutil  # these two load slowly, and hardly any start needs them
    import tempfile

    # Opening a database may change it, so a copy of the copy is opened: what the user has stays as it was found.
    with tempfile.TemporaryDirectory(prefix="slipstream-salvage-") as folder:
        patient = Path(folder) / "store"
        for suffix in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(aside.with_name(aside.name + suffix), patient.with_name(patient.name + suffix))
        with contextlib.closing(sqlite3.connect(patient, isolation_level=None)) as damaged:
            damaged.text_factory = lambda raw: raw.decode("utf-8", "replace")
            # Lets SQLite read a file that is shorter than its header says.
            damaged.execute("PRAGMA writable_schema = ON")
            tables = {name: _readable_rows(damaged, name) for name in copying.COLUMNS}
    chats, messages = tables["conversations"], tables["messages"]
    _mend(chats, messages, tables["figures"], tables["attachments"])
    store.execute("BEGIN IMMEDIATE")
    try:
        for name, table in tables.items():
            copying.insert(store, name, [tuple(row.values()) for row in table.values()], overwrite=False)
        store.execute("COMMIT")
    except BaseException:
        store.execute("ROLLBACK")
        raise
    return sum(chat["leaf"] is not None for chat in chats.values()), len(messages)


def _readable_rows(damaged: sqlite3.Connection, table: str) -> Table:
    """All rows in front of a damaged place, and all behind it."""
    names = copying.COLUMNS[table]
    found: Table = {}
    for order in ("ASC", "DESC"):
        query = f"SELECT {', '.join(names)} FROM {table} NOT INDEXED ORDER BY rowid {order}"
        try:
            for values in damaged.execute(query):
                row = dict(zip(names, values, strict=True))
                found.setdefault(row[names[0]], row)
        except sqlite3.Error:
            continue
        break
    return found


def _mend(chats: Table, messages: Table, figures: Table, attachments: Table) -> None:
    """Make the parts fit: no row may point to one that was lost."""
    for table in (chats, messages, figures, attachments):
        for key in [key for key, row in table.items() if not _is_sound(row)]:
            del table[key]
    for row in messages.values():
        if row["parent"] not in messages:
            row["parent"] = None
        if row["conversation"] not in chats:
            chats[row["conversation"]] = _stand_in(row)
    newest: dict[int, int] = {}
    for key, row in messages.items():
        newest[row["conversation"]] = max(key, newest.get(row["conversation"], key))
    for key, chat in chats.items():
        if chat["leaf"] not in messages:
            chat["leaf"] = newest.get(key)
    for table in (figures, attachments):
        for key in [key for key, row in table.items() if row["message"] not in messages]:
            del table[key]


def _is_sound(row: Row) -> bool:
    """Whether the tables accept this row; where a file is damaged, values of the wrong kind turn up."""
    if any(row[name] is None for name in _NEEDED if name in row):
        return False
    return row.get("role", "user") in get_args(Role) and row.get("state", "complete") in get_args(MessageState)


def _stand_in(message: Row) -> Row:
    """A chat for a message whose own was lost."""
    title = title_from(message["content"])
    values = (message["conversation"], title, message["created"], message["created"], None, 0, None, "{}")
    return dict(zip(copying.COLUMNS["conversations"], values, strict=True))
