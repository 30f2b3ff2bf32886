"""The files that the text in the composer mentions: read as soon as their names are complete, shown, and sent along."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from app.attached import (
    AttachmentError,
    Mention,
    estimated_tokens,
    mentions,
    read_attachment,
    together,
)
from app.chats.records import Attachment
from app.tui.background import aside
from app.tui.widgets.attached_row import Chip

Count = Callable[[str], Awaitable[int | None]]
"""How many tokens a text takes; None while nobody can say (no model yet, or it is busy)."""


class Attaching:
    """``changed``: called, from a task of its own, when there is something new to show; ``refused`` with a sentence."""

    def __init__(
        self,
        folder: Callable[[], Path],
        known: Callable[[str], bool],
        changed: Callable[[], None],
        refused: Callable[[str], None],
        count: Count,
    ) -> None:
        """``known``: whether a path is that of a file of the folder."""
        self._folder = folder
        self._is_known = known
        self._changed = changed
        self._refused = refused
        self._count = count
        self._known: dict[str, Attachment | None] = {}
        """By the path as it is written; None: there is no such file, or it cannot be attached."""
        self._tokens: dict[str, int] = {}
        """By the file's hash."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: set[str] = set()

    def look(self, text: str) -> Sequence[Chip]:
        """What is attached now, as far as it was read. Mentions that are complete are read by and by."""
        found = mentions(text)
        for mention in found:
            if mention.path not in self._known and mention.path not in self._reading and self._complete(mention, text):
                self._reading.add(mention.path)
                task = asyncio.create_task(self._read(mention.path), name="read attachment")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return [self._chip(one) for one in self._chosen(found)]

    async def settle(self, text: str) -> tuple[Attachment, ...]:
        """Everything that ``text`` mentions, as it is on the disk at this moment. Raises AttachmentError when a part
        of it cannot be attached."""
        found = mentions(text)
        for path in dict.fromkeys(mention.path for mention in found):
            self._known[path] = None
            self._known[path] = await aside(read_attachment, self._folder(), path)
        return together(self._chosen(found))

    def forget(self) -> None:
        """The message is sent: the next one reads its files anew."""
        self._known.clear()

    async def _read(self, path: str) -> None:
        try:
            self._known[path] = await aside(read_attachment, self._folder(), path)
        except AttachmentError as error:
            self._known[path] = None
            self._refused(str(error))
        finally:
            self._reading.discard(path)
        one = self._known.get(path)
        if one is not None:
            self._changed()
            if one.sha256 not in self._tokens and (tokens := await self._count(one.text)) is not None:
                self._tokens[one.sha256] = tokens
                self._changed()

    def _chosen(self, found: Sequence[Mention]) -> list[Attachment]:
        """The files, each once, in the order of the text."""
        known = (self._known.get(mention.path) for mention in found)
        return list({one.place: one for one in known if one is not None}.values())

    def _chip(self, one: Attachment) -> Chip:
        tokens = self._tokens.get(one.sha256)
        return Chip(one.path, one.size, estimated_tokens(one) if tokens is None else tokens, tokens is not None)

    def _complete(self, mention: Mention, text: str) -> bool:
        """Whether nothing is typed on to it: something stands behind it, or it is the name of a file already."""
        return mention.end < len(text) or self._is_known(mention.path)
