"""Full-text search: which chats say these words, in any branch or in their title.

The index is an FTS5 table of trigrams, so parts of words and texts without spaces are found. It only narrows down what
is read: every hit is checked against the message itself. What was said since is read without it (``unindexed``), and
so is everything where there is no index, where it is damaged, or where SQLite was built without FTS5 or trigrams. So
the answer is always the same, sooner or later.

:func:`index_some` brings the index up to date. Writing a message never touches it.
"""

from __future__ import annotations

import logging
import sqlite3
from typing import Final

from app.chats import tree
from app.chats.matching import fold, says, snippet, words_of
from app.chats.records import Hit

log = logging.getLogger(__name__)

INDEX: Final = "search_index"

BATCH_MESSAGES: Final = 200
BATCH_CHARACTERS: Final = 400_000
"""What is indexed in one go: a few hundredths of a second, in which nobody else can write."""

_TRIGRAM: Final = 3
_MOST_TRIGRAMS: Final = 32
"""More would not narrow it down any further."""

# No text and no positions are kept in it: the messages have both.
_CREATE: Final = (
    f"CREATE VIRTUAL TABLE {INDEX} USING fts5(text, content='', detail=none, columnsize=0, tokenize='trigram')"
)

_INDEXED: Final = f"m.id IN (SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH ? UNION SELECT message FROM unindexed) AND"

_FIND: Final = f"""
    SELECT {tree.CONVERSATION}, said_by FROM conversations LEFT JOIN (
        SELECT m.conversation AS said_in, max(m.id) AS said_by FROM messages m
        WHERE {{among}} says(m.content) GROUP BY m.conversation
    ) ON said_in = id
    WHERE deleted IS NULL AND leaf IS NOT NULL AND (said_by IS NOT NULL OR says(title))
    ORDER BY updated DESC LIMIT ?
"""

_WAITING: Final = """
    SELECT u.message, u.was, m.content FROM unindexed u LEFT JOIN messages m ON m.id = u.message
    WHERE m.state IS NOT 'writing' LIMIT ?
"""


def find(db: sqlite3.Connection, query: str, limit: int) -> list[Hit]:
    """Chats of which one message, or the title, says every word of ``query``; the newest first."""
    words = words_of(query)
    if not words:
        return []
    db.create_function("says", 1, lambda text: says(text, words), deterministic=True)
    return [_hit(db, row, words) for row in _found(db, words, limit)]


def index_some(db: sqlite3.Connection) -> bool:
    """Bring a part of the index up to date; whether more is waiting. Inside a transaction. sqlite3.Error where there
    can be no index, or where it is damaged."""
    if not _exists(db, "unindexed"):
        return False
    if not _exists(db, INDEX):
        db.execute(_CREATE)
        db.execute("DELETE FROM unindexed")
        db.execute("INSERT INTO unindexed (message) SELECT id FROM messages")
    room, done = BATCH_CHARACTERS, []
    waiting = db.execute(_WAITING, (BATCH_MESSAGES,)).fetchall()
    for message, was, content in waiting:
        if was is not None:
            db.execute(f"INSERT INTO {INDEX} ({INDEX}, rowid, text) VALUES ('delete', ?, ?)", (message, fold(was)))
        if content is not None:
            db.execute(f"INSERT INTO {INDEX} (rowid, text) VALUES (?, ?)", (message, fold(content)))
        done.append((message,))
        room -= len(was or "") + len(content or "")
        if room <= 0:
            break
    db.executemany("DELETE FROM unindexed WHERE message = ?", done)
    return len(done) == BATCH_MESSAGES or len(done) < len(waiting)


def begin_anew(db: sqlite3.Connection) -> bool:
    """Drop a damaged index; the next :func:`index_some` makes it again."""
    db.execute(f"DROP TABLE IF EXISTS {INDEX}")
    return True


def leave_out(db: sqlite3.Connection) -> None:
    """A store without an index: it is read as a whole."""
    for trigger in ("messages_said", "messages_changed", "messages_gone"):
        db.execute(f"DROP TRIGGER {trigger}")
    db.execute("DROP TABLE unindexed")


def _found(db: sqlite3.Connection, words: tuple[str, ...], limit: int) -> list[tuple[object, ...]]:
    narrowed = _trigrams(words)
    if narrowed:
        try:
            return db.execute(_FIND.format(among=_INDEXED), (narrowed, limit)).fetchall()
        except sqlite3.Error as error:
            log.info("searched without the index: %s", error)
    return db.execute(_FIND.format(among=""), (limit,)).fetchall()


def _hit(db: sqlite3.Connection, row: tuple[object, ...], words: tuple[str, ...]) -> Hit:
    *chat, message = row
    said = tree.message(db, message) if isinstance(message, int) else None
    found = tree.conversation_from(tuple(chat))
    return Hit(found, said.id, snippet(said.content, words)) if said else Hit(found, None, "")


def _trigrams(words: tuple[str, ...]) -> str:
    """The words as a query of the index; empty when they are too short for it."""
    pieces = [word[at : at + _TRIGRAM] for word in words for at in range(len(word) - _TRIGRAM + 1)]
    quoted = ('"' + piece.replace('"', '""') + '"' for piece in dict.fromkeys(pieces))
    return " AND ".join(list(quoted)[:_MOST_TRIGRAMS])


def _exists(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone() is not None
