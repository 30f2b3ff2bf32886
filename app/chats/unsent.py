"""Text that was typed and not sent: one for each chat and instance, in the store's ``meta`` table.

The text and the large pastes in it have keys of their own, so that a paste is written once and not with every letter
that is typed behind it:

* ``unsent:<chat>:<writer>``: when it was changed, and its parts (text, or the number of a paste) as JSON;
* ``unsent:<chat>:<writer>:<number>``: a paste.
"""

from __future__ import annotations

import json
import sqlite3
import time
from typing import TYPE_CHECKING

from app.chats import tree
from app.chats.records import Unsent
from app.chats.words import storable
from app.json_text import parsed

if TYPE_CHECKING:
    from app.chats.keeper import Keeper


class UnsentTexts:
    """What this instance has of it, over the file and the copy in memory. Not thread-safe."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._written: dict[tuple[int, str], Unsent] = {}
        """By chat and our name at that time."""

    def keep(self, chat: int, text: Unsent) -> None:
        """Write what has changed of it."""
        token = self._keeper.token
        before = self._written.get((chat, token), Unsent())
        if text == before:
            return
        now, in_trouble = time.time(), self._keeper.trouble is not None

        def write_it(db: sqlite3.Connection) -> None:
            write(db, chat, token, text, before, now)
            if in_trouble and not text.parts:
                empty(db, chat, token)

        self._keeper.write(write_it, chat, durable=False)
        self._written[chat, token] = text

    def of(self, chat: int) -> Unsent:
        """Ours, or else the newest one of those that instances left which are gone: that is ours from now on."""
        token = self._keeper.token
        found = self._keeper.read(lambda db: kept(db, chat), chat)
        if token in found and found[token][1].parts:
            self._written[chat, token] = found[token][1]
            return found[token][1]
        left = {name: one for name, one in found.items() if one[1].parts and self._keeper.is_gone(name)}
        if not left:
            return Unsent()
        heir = max(left, key=lambda name: left[name][0])
        changed, text = left[heir]

        def inherit(db: sqlite3.Connection) -> None:
            forget(db, chat, heir)
            write(db, chat, token, text, Unsent(), changed)

        self._keeper.write(inherit, chat, durable=False)
        self._written[chat, token] = text
        return text

    def forget(self, db: sqlite3.Connection, chat: int) -> None:
        """Part of the change that makes it a message."""
        if self._keeper.trouble is None:
            forget(db, chat, self._keeper.token)
        else:
            empty(db, chat, self._keeper.token)

    def was_sent(self, chat: int) -> None:
        """That change is made."""
        self._written.pop((chat, self._keeper.token), None)


def write(db: sqlite3.Connection, chat: int, writer: str, text: Unsent, before: Unsent, now: float) -> None:
    """Keep ``text``, of which ``before`` is there already. Without parts nothing is left of it."""
    key = _key(chat, writer)
    for number in before.pastes.keys() - text.pastes.keys():
        tree.forget(db, f"{key}:{number}")
    for number, paste in text.pastes.items():
        if before.pastes.get(number) != paste:
            tree.remember(db, f"{key}:{number}", storable(paste))
    if text.parts:
        parts = [part if isinstance(part, int) else storable(part) for part in text.parts]
        tree.remember(db, key, json.dumps([now, parts]))
    else:
        tree.forget(db, key)


def empty(db: sqlite3.Connection, chat: int, writer: str) -> None:
    """Leave a row without text, for a file that cannot be written to now: a row that is missing in memory would not
    make it forget its own."""
    tree.remember(db, _key(chat, writer), "[0, []]")


def forget(db: sqlite3.Connection, chat: int, writer: str) -> None:
    """Nothing is left of the text."""
    key = _key(chat, writer)
    db.execute("DELETE FROM meta WHERE key = ? OR substr(key, 1, ?) = ?", (key, len(key) + 1, f"{key}:"))


def kept(db: sqlite3.Connection, chat: int) -> dict[str, tuple[float, Unsent]]:
    """Writer -> when it changed its text, and the text."""
    rows = dict(tree.remembered_under(db, f"unsent:{chat}:"))
    found: dict[str, tuple[float, Unsent]] = {}
    for key, value in rows.items():
        writer, _, number = key.removeprefix(f"unsent:{chat}:").partition(":")
        if number:
            continue
        pastes = {
            int(other.rpartition(":")[2]): str(paste) for other, paste in rows.items() if other.startswith(f"{key}:")
        }
        found[writer] = _read(value, pastes)
    return found


def _read(value: object, pastes: dict[int, str]) -> tuple[float, Unsent]:
    try:
        changed, parts = parsed(str(value))
        text = tuple(part for part in parts if isinstance(part, str) or part in pastes)
        return float(changed), Unsent(text, {number: pastes[number] for number in text if isinstance(number, int)})
    except (ValueError, TypeError):
        return 0.0, Unsent()


def _key(chat: int, writer: str) -> str:
    return f"unsent:{chat}:{writer}"
