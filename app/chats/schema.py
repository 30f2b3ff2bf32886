"""The tables, as numbered migrations.

A migration that was released is never edited: a change is a new number. Each runs in one transaction together with
its line in ``migrations``, so a kill leaves the store at one version or the next, never between.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Final

from app.chats.records import NewerStoreError

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,
            value
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE conversations (
            id INTEGER PRIMARY KEY,
            title TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            leaf INTEGER REFERENCES messages (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
            pinned INTEGER NOT NULL DEFAULT 0,
            deleted REAL,
            settings TEXT NOT NULL DEFAULT '{}'
        )
        """,
        # The list reads exactly this index, in order, and stops at its limit.
        "CREATE INDEX conversations_listed ON conversations (updated DESC) WHERE deleted IS NULL AND leaf IS NOT NULL",
        "CREATE INDEX conversations_leaf ON conversations (leaf)",
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            parent INTEGER REFERENCES messages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
            role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
            content TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('complete', 'writing', 'interrupted', 'cancelled', 'failed')),
            error TEXT,
            writer TEXT,
            created REAL NOT NULL,
            finished REAL
        )
        """,
        "CREATE INDEX messages_by_parent ON messages (conversation, parent)",
        "CREATE INDEX messages_parent ON messages (parent)",
        # Nearly always empty: what a start has to look at after a kill.
        "CREATE INDEX messages_writing ON messages (writer) WHERE state = 'writing'",
        # Apart from the messages, since a receipt is larger than most answers and few readers want it.
        """
        CREATE TABLE figures (
            message INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
            finish_reason TEXT NOT NULL,
            token_ids TEXT NOT NULL,
            sources TEXT NOT NULL,
            stats TEXT NOT NULL,
            receipt TEXT
        )
        """,
    ),
)

LATEST: Final = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The number of the last migration that was applied; 0 for an empty file."""
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchone() is None:
        return 0
    (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    return int(number)


def refuse_newer(connection: sqlite3.Connection, where: object) -> None:
    """:class:`NewerStoreError` when a newer Slipstream wrote this store. Reads only."""
    version = version_of(connection)
    if version > LATEST:
        raise NewerStoreError(
            f"not saved: {where} was written by a newer Slipstream (its version is {version}, this program knows "
            f"{LATEST}) and was left as it is. Update Slipstream to see those chats, or set SLIPSTREAM_HOME to "
            "another folder."
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store up to :data:`LATEST`. The connection must be in autocommit mode."""
    if version_of(connection) >= LATEST:
        return
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied REAL NOT NULL)")
    for number, statements in enumerate(MIGRATIONS, start=1):
        # IMMEDIATE, and the question asked inside: another instance may be doing the same at this moment.
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) < number:
                for statement in statements:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (number, time.time()))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
