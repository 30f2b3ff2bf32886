"""A whole conversation from one database to another: file to memory, and memory to file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any, Final

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "conversations": ("id", "title", "created", "updated", "leaf", "pinned", "deleted", "settings"),
    "messages": ("id", "conversation", "parent", "role", "content", "state", "error", "writer", "created", "finished"),
    "figures": ("message", "finish_reason", "token_ids", "sources", "stats", "receipt"),
    "attachments": ("id", "message", "path", "place", "sha256", "size", "modified", "packed"),
}

_WHERE: Final = {
    "conversations": "id = ?",
    "messages": "conversation = ?",
    "figures": "message IN (SELECT id FROM messages WHERE conversation = ?)",
    "attachments": "message IN (SELECT id FROM messages WHERE conversation = ?)",
}


def rows(db: sqlite3.Connection, table: str, conversation_id: int) -> list[tuple[Any, ...]]:
    """What ``table`` holds of a conversation, in the order of :data:`COLUMNS`."""
    names = ", ".join(COLUMNS[table])
    return db.execute(f"SELECT {names} FROM {table} WHERE {_WHERE[table]}", (conversation_id,)).fetchall()


def insert(db: sqlite3.Connection, table: str, values: Sequence[Sequence[Any]], *, overwrite: bool) -> None:
    """Add rows. One that is there already is overwritten or left as it is; it is never replaced, since deleting a
    message would take its descendants along."""
    names = COLUMNS[table]
    update = "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    db.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        f" ON CONFLICT ({names[0]}) DO {update if overwrite else 'NOTHING'}",
        values,
    )


def take(source: sqlite3.Connection, target: sqlite3.Connection, conversation_id: int) -> bool:
    """Make ``target`` hold the conversation as ``source`` does, figures left out (they are large and seldom read).
    False, and nothing is touched, when there is no such conversation."""
    found = rows(source, "conversations", conversation_id)
    if not found:
        return False
    for table in ("attachments", "messages"):
        target.execute(f"DELETE FROM {table} WHERE {_WHERE[table]}", (conversation_id,))
    insert(target, "conversations", found, overwrite=True)
    insert(target, "messages", rows(source, "messages", conversation_id), overwrite=True)
    insert(target, "attachments", rows(source, "attachments", conversation_id), overwrite=True)
    return True


def merge(
    source: sqlite3.Connection, target: sqlite3.Connection, conversation_id: int, changed: Collection[int]
) -> None:
    """Give ``target`` everything that ``source`` has of the conversation. Of the messages that are in both, only the
    ``changed`` ones are overwritten: the others may have been finished by another instance meanwhile."""
    insert(target, "conversations", rows(source, "conversations", conversation_id), overwrite=True)
    for table in ("messages", "figures"):
        found = rows(source, table, conversation_id)
        insert(target, table, [row for row in found if row[0] in changed], overwrite=True)
        insert(target, table, [row for row in found if row[0] not in changed], overwrite=False)
    insert(target, "attachments", rows(source, "attachments", conversation_id), overwrite=False)


def forget(db: sqlite3.Connection, conversation_id: int) -> None:
    """Drop a conversation from a copy."""
    for table in ("figures", "attachments", "messages", "conversations"):
        db.execute(f"DELETE FROM {table} WHERE {_WHERE[table]}", (conversation_id,))
