"""What the user said before, newest first: for going back through it while writing."""

from __future__ import annotations

import sqlite3
from typing import Final

HERE: Final = "SELECT id FROM messages WHERE conversation = ? AND role = 'user' ORDER BY id DESC LIMIT ?"

# CROSS JOIN keeps the order of the tables: messages from the newest on, and no sorting of them all.
ELSEWHERE: Final = """
    SELECT m.id FROM messages m CROSS JOIN conversations c ON c.id = m.conversation
    WHERE m.role = 'user' AND m.conversation <> ? AND c.deleted IS NULL ORDER BY m.id DESC LIMIT ?
"""


def here(db: sqlite3.Connection, conversation_id: int, limit: int) -> list[int]:
    """Ids of what the user said in this chat, in all its branches."""
    return [row[0] for row in db.execute(HERE, (conversation_id, limit))]


def elsewhere(db: sqlite3.Connection, conversation_id: int, limit: int) -> list[int]:
    """Ids of what the user said in the other chats."""
    return [row[0] for row in db.execute(ELSEWHERE, (conversation_id, limit))]
