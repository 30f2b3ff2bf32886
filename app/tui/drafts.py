"""Unsent text that survives: about every second while something is typed, and at every parting."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from app.chats.records import StoreError, Unsent

if TYPE_CHECKING:
    from textual.timer import Timer

    from app.chats.store import ChatStore

log = logging.getLogger(__name__)

KEEP_SECONDS: Final = 0.8


class Drafts:
    """Keeps what ``text()`` says for one chat at a time. ``later(seconds, work)`` makes a timer."""

    def __init__(
        self, store: ChatStore, text: Callable[[], Unsent], later: Callable[[float, Callable[[], Any]], Timer]
    ) -> None:
        self._store = store
        self._text = text
        self._later = later
        self.chat: int | None = None
        """Whose text it is."""
        self._timer: Timer | None = None

    def changed(self) -> None:
        """Something was typed: it is kept within :data:`KEEP_SECONDS`."""
        if self._timer is None and self.chat is not None:
            self._timer = self._later(KEEP_SECONDS, self.keep)

    def keep(self) -> None:
        """Write it now, if there is anything new."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.chat is None:
            return
        try:
            self._store.keep_unsent(self.chat, self._text())
        except StoreError as error:  # the chat is gone, and with it the place for its text
            log.warning("unsent text was not kept: %s", error)

    def follow(self, chat: int) -> Unsent | None:
        """Another chat is on screen: keep the text with the one before. Returns the text of the new one; None when it
        is the same chat."""
        if chat == self.chat:
            return None
        self.keep()
        self.chat = chat
        return self._store.unsent(chat)
