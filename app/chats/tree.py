"""Conversations and their message trees as SQL: every statement that reads or changes a chat.

The functions take a connection, so the same ones work on the file and on the copy in memory, and all ids and times,
so that both get the same rows.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable
from typing import Any, Final

from app.chats.records import Conversation, Figures, Message, settings_from_json
from app.chats.words import UNTITLED

CONVERSATION: Final = "id, title, created, updated, leaf, pinned, settings"
_MESSAGE: Final = "m.id, m.conversation, m.parent, m.role, m.content, m.state, m.error, m.created, m.finished"
_DEEPEST: Final = 100_000
"""No branch is longer; ends the walk in a store that somebody edited into a circle."""

LIST: Final = f"""
    SELECT {CONVERSATION} FROM conversations
    WHERE deleted IS NULL AND leaf IS NOT NULL ORDER BY pinned DESC, updated DESC LIMIT ? OFFSET ?
"""

NEWEST: Final = f"""
    SELECT {CONVERSATION} FROM conversations
    WHERE deleted IS NULL AND leaf IS NOT NULL ORDER BY updated DESC LIMIT 1
"""

LAST_DELETED: Final = f"""
    SELECT deleted, {CONVERSATION} FROM conversations WHERE deleted IS NOT NULL ORDER BY deleted DESC LIMIT 1
"""

PATH: Final = f"""
    WITH RECURSIVE up (id, parent, depth) AS (
        SELECT m.id, m.parent, 0 FROM conversations c JOIN messages m ON m.id = c.leaf WHERE c.id = ?
        UNION ALL
        SELECT m.id, m.parent, up.depth + 1 FROM up JOIN messages m ON m.id = up.parent
        LIMIT ?
    )
    SELECT {_MESSAGE} FROM up JOIN messages m ON m.id = up.id ORDER BY up.depth DESC
"""

VARIANTS: Final = f"""
    WITH RECURSIVE up (id, parent) AS (
        SELECT m.id, m.parent FROM conversations c JOIN messages m ON m.id = c.leaf WHERE c.id = ?1
        UNION ALL
        SELECT m.id, m.parent FROM up JOIN messages m ON m.id = up.parent
        LIMIT {_DEEPEST}
    )
    SELECT up.id, sum(s.id <= up.id), count(*)
    FROM up CROSS JOIN messages s ON s.conversation = ?1 AND s.parent IS up.parent
    GROUP BY up.id HAVING count(*) > 1
"""
"""A CROSS JOIN keeps this order of the tables: for each message of the path its siblings, by the index."""

NEWEST_BELOW: Final = f"""
    WITH RECURSIVE down (id, depth) AS (
        VALUES (?, 0)
        UNION ALL
        SELECT (SELECT max(m.id) FROM messages m WHERE m.parent = down.id), down.depth + 1
        FROM down WHERE down.id IS NOT NULL
        LIMIT {_DEEPEST}
    )
    SELECT id FROM down WHERE id IS NOT NULL ORDER BY depth DESC LIMIT 1
"""

_last_id = 0


def new_id() -> int:
    """Unique among all instances and for the copy in memory as well, and rising: newer rows have larger ids."""
    global _last_id
    _last_id = max(_last_id + 1, (int(time.time() * 1000) << 20) | (int.from_bytes(os.urandom(3), "big") >> 4))
    return _last_id


# ------------------------------------------------------------------------------------------------------ reading


def conversation(db: sqlite3.Connection, conversation_id: int) -> Conversation | None:
    query = f"SELECT {CONVERSATION} FROM conversations WHERE id = ? AND deleted IS NULL"
    return next(map(conversation_from, db.execute(query, (conversation_id,))), None)


def conversations(db: sqlite3.Connection, limit: int, offset: int) -> list[Conversation]:
    """Pinned ones first, then the newest."""
    return [conversation_from(row) for row in db.execute(LIST, (limit, offset))]


def newest(db: sqlite3.Connection) -> Conversation | None:
    return next(map(conversation_from, db.execute(NEWEST)), None)


def last_deleted(db: sqlite3.Connection) -> tuple[float, Conversation] | None:
    """When it was deleted, and which it is."""
    return next(((row[0], conversation_from(row[1:])) for row in db.execute(LAST_DELETED)), None)


def has_deleted_before(db: sqlite3.Connection, when: float) -> bool:
    return db.execute("SELECT 1 FROM conversations WHERE deleted < ? LIMIT 1", (when,)).fetchone() is not None


def message(db: sqlite3.Connection, message_id: int) -> Message | None:
    query = f"SELECT {_MESSAGE} FROM messages m WHERE m.id = ?"
    return next((Message(*row) for row in db.execute(query, (message_id,))), None)


def path(db: sqlite3.Connection, conversation_id: int, last: int | None) -> tuple[Message, ...]:
    limit = _DEEPEST if last is None else last
    return tuple(Message(*row) for row in db.execute(PATH, (conversation_id, limit)))


def messages(db: sqlite3.Connection, conversation_id: int) -> tuple[Message, ...]:
    """Those of all branches, oldest first."""
    query = f"SELECT {_MESSAGE} FROM messages m WHERE m.conversation = ? ORDER BY m.id"
    return tuple(Message(*row) for row in db.execute(query, (conversation_id,)))


def count_messages(db: sqlite3.Connection, conversation_id: int) -> int:
    """Those of all branches."""
    query = "SELECT count(*) FROM messages WHERE conversation = ?"
    return int(db.execute(query, (conversation_id,)).fetchone()[0])


def below(db: sqlite3.Connection, conversation_id: int, parent: int | None) -> tuple[Message, ...]:
    """The children of ``parent``, or with None the conversation's first messages; oldest first."""
    query = f"SELECT {_MESSAGE} FROM messages m WHERE m.conversation = ? AND m.parent IS ? ORDER BY m.id"
    return tuple(Message(*row) for row in db.execute(query, (conversation_id, parent)))


def variants(db: sqlite3.Connection, conversation_id: int) -> dict[int, tuple[int, int]]:
    """Messages of the path that have siblings -> which of how many each is, by age."""
    return {row[0]: (row[1], row[2]) for row in db.execute(VARIANTS, (conversation_id,))}


def newest_below(db: sqlite3.Connection, message_id: int) -> int:
    (leaf,) = db.execute(NEWEST_BELOW, (message_id,)).fetchone()
    return int(leaf)


def figures(db: sqlite3.Connection, message_ids: Iterable[int]) -> dict[int, Figures]:
    query = "SELECT message, finish_reason, token_ids, sources, stats, receipt FROM figures WHERE message = ?"
    found = {}
    for message_id in message_ids:
        for row in db.execute(query, (message_id,)):
            ids = tuple(int(number) for number in row[2].split(",") if number)
            found[message_id] = Figures(row[0], row[1], ids, row[3], row[4], row[5])
    return found


def remembered(db: sqlite3.Connection, key: str) -> Any:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def remembered_under(db: sqlite3.Connection, prefix: str) -> list[tuple[str, Any]]:
    """Every key that begins with ``prefix``, and its value."""
    return db.execute("SELECT key, value FROM meta WHERE substr(key, 1, ?) = ?", (len(prefix), prefix)).fetchall()


def everything_remembered(db: sqlite3.Connection) -> list[tuple[str, Any]]:
    return db.execute("SELECT key, value FROM meta").fetchall()


def conversation_from(row: tuple[Any, ...]) -> Conversation:
    """The record of a row of :data:`CONVERSATION`."""
    title = row[1] or UNTITLED
    return Conversation(row[0], title, row[2], row[3], row[4], bool(row[5]), settings_from_json(row[6]))


# ----------------------------------------------------------------------------------------------------- changing


def remember(db: sqlite3.Connection, key: str, value: int | str) -> None:
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value))


def forget(db: sqlite3.Connection, key: str) -> None:
    db.execute("DELETE FROM meta WHERE key = ?", (key,))


def insert_conversation(db: sqlite3.Connection, conversation_id: int, now: float, settings: str) -> None:
    db.execute(
        "INSERT INTO conversations (id, title, created, updated, settings) VALUES (?, '', ?, ?, ?)",
        (conversation_id, now, now, settings),
    )


def insert_message(db: sqlite3.Connection, new: Message, writer: str | None, title: str = "") -> None:
    """Add a message as the leaf. ``title`` is for a conversation that has none yet."""
    row = (new.id, new.conversation, new.parent, new.role, new.content, new.state, writer, new.created, new.finished)
    db.execute(
        "INSERT INTO messages (id, conversation, parent, role, content, state, writer, created, finished)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    db.execute(
        "UPDATE conversations SET leaf = ?, updated = ?, deleted = NULL,"
        " title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
        (new.id, new.created, title, new.conversation),
    )


def remove_message(db: sqlite3.Connection, gone: Message, its_title: str) -> None:
    """Take back a message without children; a title that was made from it goes with it."""
    db.execute(
        "UPDATE conversations SET leaf = ?, title = CASE WHEN title = ? AND ? THEN '' ELSE title END WHERE id = ?",
        (gone.parent, its_title, gone.parent is None, gone.conversation),
    )
    delete_childless(db, gone.id)


def delete_childless(db: sqlite3.Connection, message_id: int) -> None:
    """Unless another instance has answered it in the meantime: deleting would take the answer along."""
    childless = "NOT EXISTS (SELECT 1 FROM messages WHERE parent = ?1)"
    db.execute(f"DELETE FROM attachments WHERE message = ?1 AND {childless}", (message_id,))
    db.execute(f"DELETE FROM messages WHERE id = ?1 AND {childless}", (message_id,))


def write_text(db: sqlite3.Connection, message_id: int, text: str, writer: str) -> bool:
    """A checkpoint. An answer that has ended stays as it is (False); one that was wrongly called interrupted comes
    back."""
    changed = db.execute(
        "UPDATE messages SET content = ?, state = 'writing', writer = ?"
        " WHERE id = ? AND state IN ('writing', 'interrupted')",
        (text, writer, message_id),
    )
    return changed.rowcount > 0


def end_message(db: sqlite3.Connection, ended: Message) -> None:
    db.execute(
        "UPDATE messages SET content = ?, state = ?, error = ?, finished = ?, writer = NULL WHERE id = ?",
        (ended.content, ended.state, ended.error, ended.finished, ended.id),
    )
    db.execute("UPDATE conversations SET updated = ? WHERE id = ?", (ended.finished, ended.conversation))


def write_figures(db: sqlite3.Connection, new: Figures) -> None:
    ids = ",".join(map(str, new.token_ids))
    db.execute(
        "INSERT OR REPLACE INTO figures (message, finish_reason, token_ids, sources, stats, receipt)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (new.message, new.finish_reason, ids, new.sources, new.stats_json, new.receipt_json),
    )


def set_column(db: sqlite3.Connection, column: str, value: object, conversation_id: int) -> None:
    """``column`` is one of the program's own words, never input."""
    db.execute(f"UPDATE conversations SET {column} = ? WHERE id = ?", (value, conversation_id))


def purge(db: sqlite3.Connection, before: float) -> None:
    """Remove for good what was deleted before that time."""
    db.execute("DELETE FROM conversations WHERE deleted < ?", (before,))


def interrupt(db: sqlite3.Connection, writer: str | None) -> None:
    """The instance ``writer`` is gone: what it was receiving ends here."""
    db.execute(
        "UPDATE messages SET state = 'interrupted', writer = NULL WHERE state = 'writing' AND writer IS ?", (writer,)
    )


def writers(db: sqlite3.Connection) -> list[str | None]:
    """Who is receiving an answer, or was when it was killed."""
    return [row[0] for row in db.execute("SELECT DISTINCT writer FROM messages WHERE state = 'writing'")]
