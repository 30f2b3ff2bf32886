"""The tables, as numbered migrations.

A migration that was released is never edited: a change is a new number. Each runs in one transaction together with
its line in ``migrations``, so a kill leaves the store at one version or the next, never between.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Final

from app.chats.records import NewerStoreError

_ATTACHMENTS: Final = (
    """
    CREATE TABLE attachments (
        id INTEGER PRIMARY KEY,
        message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        place TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        size INTEGER NOT NULL,
        modified REAL NOT NULL,
        packed BLOB NOT NULL
    )
    """,
    "CREATE INDEX attachments_by_message ON attachments (message)",
)

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
    (
        "CREATE INDEX conversations_in_order ON conversations (pinned DESC, updated DESC)"
        " WHERE deleted IS NULL AND leaf IS NOT NULL",
        "CREATE INDEX conversations_deleted ON conversations (deleted) WHERE deleted IS NOT NULL",
        # Messages that the search index has not got as they are now, and the text it has got instead (NULL: none).
        # Writing a message only notes it here, so an index that is damaged, or an SQLite that cannot make one, never
        # keeps a message from being saved. See app.chats.search.
        "CREATE TABLE unindexed (message INTEGER PRIMARY KEY, was TEXT)",
        "INSERT INTO unindexed (message) SELECT id FROM messages",
        # WHERE NOT EXISTS, since an upsert overrules an OR IGNORE in its triggers.
        """
        CREATE TRIGGER messages_said AFTER INSERT ON messages
        BEGIN
            INSERT INTO unindexed (message)
            SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM unindexed WHERE message = new.id);
        END
        """,
        """
        CREATE TRIGGER messages_changed AFTER UPDATE OF content ON messages WHEN old.content IS NOT new.content
        BEGIN
            INSERT INTO unindexed (message, was)
            SELECT old.id, old.content WHERE NOT EXISTS (SELECT 1 FROM unindexed WHERE message = old.id);
        END
        """,
        """
        CREATE TRIGGER messages_gone AFTER DELETE ON messages
        BEGIN
            INSERT INTO unindexed (message, was)
            SELECT old.id, old.content WHERE NOT EXISTS (SELECT 1 FROM unindexed WHERE message = old.id);
        END
        """,
    ),
    _ATTACHMENTS,
)

LATEST: Final = len(MIGRATIONS)

READABLE: Final = 1
"""The oldest version whose chats can be brought up to date, or read as they are."""


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
