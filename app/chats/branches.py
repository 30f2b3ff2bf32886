"""The part of the store that reads messages: the branch that is shown, the variants beside it, the figures."""

from __future__ import annotations

from collections.abc import Iterable

from app.chats import tree
from app.chats.listed import ListedChats
from app.chats.records import Figures, Message, StoreError


class Branches(ListedChats):
    """What is written is in :class:`app.chats.store.ChatStore`, which see for threads and disks that fail."""

    def message(self, message_id: int) -> Message | None:
        """One message, or None."""
        with self._lock:
            copy = self._keeper.in_memory(lambda db: tree.message(db, message_id))
            chat = None if copy is None else copy.conversation
            return self._keeper.read(lambda db: tree.message(db, message_id), chat) or copy

    def path(self, conversation_id: int, *, last: int | None = None) -> tuple[Message, ...]:
        """Root to current leaf: what is shown and what is sent. ``last``: only that many from the end."""
        with self._lock:
            self._keeper.hold_fresh(conversation_id)
            return self._keeper.in_memory(lambda db: tree.path(db, conversation_id, last))

    def children(self, message_id: int) -> tuple[Message, ...]:
        """What was said directly below a message, oldest first."""
        with self._lock:
            chat = self._message(message_id).conversation
            return self._keeper.read(lambda db: tree.below(db, chat, message_id), chat)

    def siblings(self, message_id: int) -> tuple[Message, ...]:
        """A message and its variants, oldest first: for ``2/3`` and previous / next."""
        with self._lock:
            said = self._message(message_id)
            return self._keeper.read(lambda db: tree.below(db, said.conversation, said.parent), said.conversation)

    def variants(self, conversation_id: int) -> dict[int, tuple[int, int]]:
        """Every message of the path that has siblings -> which of how many it is: (2, 3). One query for them all."""
        with self._lock:
            self._keeper.hold(conversation_id)
            return self._keeper.in_memory(lambda db: tree.variants(db, conversation_id))

    def switch_leaf(self, message_id: int) -> tuple[Message, ...]:
        """Show the branch through this message, down to its newest descendant; returns the new path."""
        with self._lock:
            chat = self._message(message_id).conversation
            leaf = self._keeper.read(lambda db: tree.newest_below(db, message_id), chat)
            self._set(chat, "leaf", leaf)
            return self.path(chat)

    def figures(self, message_ids: Iterable[int]) -> dict[int, Figures]:
        """The figures of those of the messages that are answers, as far as they are known."""
        wanted = tuple(message_ids)
        with self._lock:
            found = self._keeper.read(lambda db: tree.figures(db, wanted))
            return found | self._keeper.in_memory(lambda db: tree.figures(db, wanted))

    def _message(self, message_id: int) -> Message:
        found = self.message(message_id)
        if found is None:
            raise StoreError("This message is not in the store any more.")
        return found
