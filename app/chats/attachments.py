"""What was attached to messages, as SQL: the files as they were, since they may change and what was said must not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from app.chats.records import Attachment
from app.chats.words import storable

OF_CHAT = """
    SELECT a.message, a.path, a.place, a.sha256, a.size, a.modified, a.packed, a.id
    FROM messages m JOIN attachments a ON a.message = m.id WHERE m.conversation = ? ORDER BY a.id
"""


def insert(db: sqlite3.Connection, message_id: int, new: Iterable[Attachment]) -> None:
    """Keep what was attached to a message. The attachments have ids."""
    db.executemany(
        "INSERT INTO attachments (id, message, path, place, sha256, size, modified, packed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(one.id, message_id, one.path, one.place, one.sha256, one.size, one.modified, one.packed) for one in new],
    )


def of_chat(db: sqlite3.Connection, conversation_id: int) -> dict[int, tuple[Attachment, ...]]:
    """Message -> what was attached to it, in the order of the text; messages without attachments are left out."""
    found: dict[int, tuple[Attachment, ...]] = {}
    for message_id, *values in db.execute(OF_CHAT, (conversation_id,)):
        found[message_id] = (*found.get(message_id, ()), Attachment(*values))
    return found


def numbered(new: Iterable[Attachment], ids: Iterable[int]) -> list[Attachment]:
    """The attachments with ids, and with names that the store can hold."""
    return [
        replace(one, id=number, path=storable(one.path), place=storable(one.place))
        for one, number in zip(new, ids, strict=False)
    ]
