"""The half of the store that is about whole chats: the list, search, names, and what is deleted."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from functools import partial
from typing import Final

from app.chats import search, tree
from app.chats.keeper import Keeper
from app.chats.records import Conversation, Hit, Message, StoreError
from app.chats.troubles import is_damage
from app.chats.words import storable

log = logging.getLogger(__name__)

OPEN_BY: Final = "open:"
"""``open:<writer>``: the chat that this instance has on screen."""

KEPT_DAYS: Final = 30
"""A deleted chat can be brought back that long."""


class ListedChats:
    """The other half is :class:`app.chats.store.ChatStore`, which see for threads and disks that fail."""

    def __init__(self, keeper: Keeper, lock: threading.RLock) -> None:
        self._keeper = keeper
        self._lock = lock
        self._began_anew = False

    # ------------------------------------------------------------------------------------------------ the list

    def conversations(self, limit: int = 50, offset: int = 0) -> tuple[Conversation, ...]:
        """Chats in which something was said: pinned ones first, then the newest."""
        with self._lock:
            unsaved = self._keeper.unsaved
            if not unsaved:
                return tuple(self._keeper.read(partial(tree.conversations, limit=limit, offset=offset)))
            both = partial(tree.conversations, limit=offset + limit, offset=0)
            stored, newer = self._keeper.read(both), self._keeper.in_memory(both)
            listed = [chat for chat in stored if chat.id not in unsaved] + [c for c in newer if c.id in unsaved]
            listed.sort(key=lambda chat: (chat.pinned, chat.updated), reverse=True)
            return tuple(listed[offset : offset + limit])

    def newest(self) -> Conversation | None:
        """The chat in which something was said last, pinned or not."""
        with self._lock:
            if not self._keeper.unsaved:
                return self._keeper.read(tree.newest)
            return max(self.conversations(limit=1000), key=lambda chat: chat.updated, default=None)

    def conversation(self, conversation_id: int) -> Conversation | None:
        """One chat, or None when there is none with this id, or when it is deleted."""
        with self._lock:
            return self._keeper.read(lambda db: tree.conversation(db, conversation_id), conversation_id)

    def peek(self, conversation_id: int, *, last: int | None = None) -> tuple[Message, ...]:
        """Root to current leaf of a chat that is looked at but not opened. ``last``: only that many from the end."""
        with self._lock:
            return self._keeper.read(lambda db: tree.path(db, conversation_id, last), conversation_id)

    def all_messages(self, conversation_id: int) -> tuple[Message, ...]:
        """The messages of all branches, oldest first."""
        with self._lock:
            return self._keeper.read(lambda db: tree.messages(db, conversation_id), conversation_id)

    def count_messages(self, conversation_id: int) -> int:
        """How many messages a chat has in all branches."""
        with self._lock:
            return self._keeper.read(lambda db: tree.count_messages(db, conversation_id), conversation_id)

    def open_elsewhere(self, conversation_id: int) -> bool:
        """Whether another live instance has this chat on screen. Mark it open first: of two that start at the same
        time, at least one sees the other."""
        return conversation_id in self.all_open_elsewhere()

    def all_open_elsewhere(self) -> frozenset[int]:
        """The chats that other live instances have on screen."""
        with self._lock:
            chats = self._keeper.read(lambda db: tree.remembered_under(db, OPEN_BY))
            tokens = [(key.removeprefix(OPEN_BY), number) for key, number in chats]
            others = [(token, number) for token, number in tokens if token != self._keeper.token]
            return frozenset(number for token, number in others if not self._keeper.is_gone(token))

    # ------------------------------------------------------------------------------------------------- search

    def search(self, query: str, limit: int = 100) -> tuple[Hit, ...]:
        """Chats in which a message of any branch, or the title, says every word of ``query``, the newest first. Words
        are plain: no sign has a meaning. Parts of words are found as well."""
        with self._lock:
            unsaved = self._keeper.unsaved
            find = partial(search.find, query=query, limit=limit + len(unsaved))
            stored = self._keeper.read(find)
            if not unsaved:
                return tuple(stored)
            found = [hit for hit in stored if hit.conversation.id not in unsaved]
            found += [hit for hit in self._keeper.in_memory(find) if hit.conversation.id in unsaved]
            found.sort(key=lambda hit: hit.conversation.updated, reverse=True)
            return tuple(found[:limit])

    def index_some(self) -> bool:
        """Bring a part of the search index up to date; whether there is more to do. Search finds everything without
        it, only slower. Takes a few hundredths of a second; never raises because of the disk or the index."""
        with self._lock:
            try:
                return bool(self._keeper.tidy(search.index_some))
            except sqlite3.Error as error:
                log.info("the search index was left as it is: %s", error)
                if not is_damage(error) or self._began_anew:
                    return False
            self._began_anew = True
            with contextlib.suppress(sqlite3.Error):
                return bool(self._keeper.tidy(search.begin_anew))
            return False

    # ---------------------------------------------------------------------------------------- names and places

    def rename(self, conversation_id: int, title: str) -> Conversation:
        """Give a chat a title of the user's choice."""
        return self._set(conversation_id, "title", storable(title))

    def pin(self, conversation_id: int, pinned: bool = True) -> Conversation:
        """Keep a chat at the top of the list, or not any more."""
        return self._set(conversation_id, "pinned", int(pinned))

    # ------------------------------------------------------------------------------------------------ deleting

    def delete(self, conversation_id: int) -> None:
        """Take a chat off the list. Everything in it stays for :data:`KEPT_DAYS` days, see :meth:`restore`; a message
        that another instance adds meanwhile brings it back."""
        self._write(conversation_id, "deleted", time.time())

    def restore(self, conversation_id: int) -> Conversation:
        """Bring a deleted chat back, as it was."""
        return self._set(conversation_id, "deleted", None)

    def last_deleted(self) -> Conversation | None:
        """The chat that was deleted last, of those that can be brought back."""
        with self._lock:
            unsaved = self._keeper.unsaved
            stored = self._keeper.read(tree.last_deleted)
            found = [stored] if stored is not None and stored[1].id not in unsaved else []
            newer = self._keeper.in_memory(tree.last_deleted) if unsaved else None
            if newer is not None and newer[1].id in unsaved:
                found.append(newer)
            return max(found, key=lambda one: one[0])[1] if found else None

    def purge_deleted(self, days: float = KEPT_DAYS) -> None:
        """Remove for good what was deleted longer ago than that. Where it cannot be done now, it is done at another
        start."""
        before = time.time() - days * 86_400
        with self._lock:
            try:
                if self._keeper.read(lambda db: tree.has_deleted_before(db, before)):
                    self._keeper.tidy(lambda db: tree.purge(db, before))
                    self.index_some()
            except sqlite3.Error as error:
                log.info("deleted chats were not removed: %s", error)

    # ------------------------------------------------------------------------------------------------- helpers

    def _known(self, conversation_id: int) -> Conversation:
        found = self.conversation(conversation_id)
        if found is None:
            raise StoreError("This chat is not in the store any more.")
        return found

    def _set(self, conversation_id: int, column: str, value: object) -> Conversation:
        with self._lock:
            self._write(conversation_id, column, value)
            return self._known(conversation_id)

    def _write(self, conversation_id: int, column: str, value: object) -> None:
        with self._lock:
            self._keeper.write(lambda db: tree.set_column(db, column, value, conversation_id), conversation_id)
