"""What the list of chats is made of: everything that the store has, a page at a time, or what a search has found."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.clean import clean_line
from app.tui.background import aside
from app.tui.chat_rows import dated_rows, found_rows
from app.tui.keymap import key_of, with_keys

if TYPE_CHECKING:
    from app.chats.records import Conversation, Hit
    from app.chats.store import ChatStore
    from app.tui.widgets.chat_row import Row

PAGE: Final = 500
"""Chats read at once; the rest follows while the first are shown."""
MOST_HITS: Final = 200

NO_CHAT: Final = (
    "No chat is kept yet. What is said in a chat is kept by itself, and found here: {chats.close} goes back to it."
)
NONE_LEFT: Final = (
    "There is no chat any more. {chats.undo} brings the last deleted one back, {chats.new} begins a new one."
)


class ChatListing:
    """The store is read beside the screen. Where there is a ``query`` (not empty), the rows are what it found."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._chats: dict[int, Conversation] = {}
        self._hits: tuple[Hit, ...] = ()
        self._more = False
        self.elsewhere: frozenset[int] = frozenset()
        """The chats that other instances have open."""
        self.deleted: Conversation | None = None
        """What could be brought back."""

    async def read(self) -> None:
        """Read anew, so much that what was listed before is there again; :meth:`read_on` has the rest. Raises
        StoreError."""
        wanted = max(PAGE, len(self._chats))
        self.deleted, self.elsewhere, page = await aside(self._first, wanted)
        self._chats, self._more = {chat.id: chat for chat in page}, len(page) >= wanted

    def _first(self, wanted: int) -> tuple[Conversation | None, frozenset[int], tuple[Conversation, ...]]:
        return self._store.last_deleted(), self._store.all_open_elsewhere(), self._store.conversations(wanted)

    async def read_on(self) -> bool:
        """Another page; False: there is none. Raises StoreError."""
        if not self._more:
            return False
        page = await aside(self._store.conversations, PAGE, len(self._chats))
        self._chats |= {chat.id: chat for chat in page}
        self._more = len(page) >= PAGE
        return True

    async def search(self, query: str) -> None:
        """Find what says ``query``. Raises StoreError."""
        self._hits = await aside(self._store.search, query, MOST_HITS)

    async def index(self) -> None:
        """Make searching fast: what was said since the last time goes into the index."""
        while await aside(self._store.index_some):
            pass

    def rows(self, query: str, now: datetime) -> list[Row]:
        """What is shown."""
        return found_rows(self._hits) if query else [*dated_rows(self._chats.values(), now)]

    def counted(self, query: str, shown: int) -> str:
        """``2 chats of 13``."""
        many = "+" if query and shown == MOST_HITS else ""
        words = f"{shown:,}{many} chat{'s' * (shown != 1)}"
        return f"{words} of {len(self._chats):,}" if query else words

    def nothing(self, query: str) -> str:
        """Why there is no row, and what to do."""
        if query:
            return f"Nobody said {clean_line(query, 60)} in any chat. {key_of('search.close')} shows all chats again."
        return with_keys(NONE_LEFT if self.deleted is not None else NO_CHAT)
