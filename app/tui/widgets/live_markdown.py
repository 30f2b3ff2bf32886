"""Markdown that is cheap while it grows and whole when it is done."""

from __future__ import annotations

import asyncio
from typing import Final

from textual.content import Content
from textual.highlight import highlight
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock, MarkdownFence, MarkdownStream

from app.clean import StreamCleaner, clean
from app.tui.code_colours import CodeColours

PLAIN_ABOVE: Final = 60_000
"""Characters from which an answer is not parsed again: half a second of highlighting is worse than no colours."""


class LiveFence(MarkdownFence):
    """A code block without highlighting: Pygments would go over the whole block at every piece."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        return Content("\n".join(code.splitlines()))


class Fence(MarkdownFence):
    """A highlighted code block. One without a language is not guessed at: that costs more than it brings."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        words = language.split()
        if not words or len(code) > PLAIN_ABOVE:
            return LiveFence.highlight(code, language)
        if ansi:
            return MarkdownFence.highlight(code, words[0], ansi=ansi, dark=dark)
        return highlight(code, language=words[0], theme=CodeColours)


class LiveMarkdown(Markdown):
    """An answer. ``feed`` while it streams, ``complete`` at its end. Model output is data: links open nothing."""

    def __init__(self, text: str = "", *, live: bool = False) -> None:
        super().__init__(clean(text), open_links=False)
        self._live = live
        self._stream: MarkdownStream | None = None
        self._cleaner = StreamCleaner()

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        if block_name in ("fence", "code_block"):
            return LiveFence if self._live else Fence
        return super().get_block_class(block_name)

    async def feed(self, piece: str) -> None:
        """Add ``piece``; it is drawn by the stream's own task."""
        if self._stream is None:
            self._stream = Markdown.get_stream(self)
        await self._stream.write(self._cleaner.feed(piece))

    async def complete(self, text: str) -> None:
        """The whole text is known: parse it once more from the start, with colours."""
        if self._stream is not None:
            await self._stream.write(self._cleaner.finish())
            try:
                await self._stream.stop()
            except asyncio.CancelledError:  # the stream's task was stopped before its first step; we were not
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
            self._stream = None
        self._live = False
        cleaned = clean(text)
        if cleaned != self.source or len(cleaned) <= PLAIN_ABOVE:
            await self.update(cleaned)
