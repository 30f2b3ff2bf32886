"""Markdown that is cheap while it grows and whole when it is done."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from textual import on
from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.highlight import highlight
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownHorizontalRule, MarkdownTable, MarkdownTableCellContents
from textual.widgets.markdown import MarkdownBlock, MarkdownStream

from app.clean import StreamCleaner, clean
from app.tui import xray
from app.tui.code_colours import CodeColours
from app.tui.widgets.column import HeightFree
from app.tui.widgets.growing import blocks_of, show
from app.tui.widgets.live_fence import LiveFence
from app.tui.widgets.live_list import LiveBulletList, LiveList, LiveOrderedList
from app.tui.widgets.live_table import Table
from app.tui.widgets.live_tail import NESTED_RULE, LiveTail, parser
from app.tui.widgets.tinted_fence import TintedFence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

PLAIN_ABOVE: Final = 60_000
"""Characters from which an answer is not parsed again: half a second of highlighting is worse than no colours."""

_NUMBER: Final = re.compile(r" {0,3}\d{1,9}")


class Fence(TintedFence):
    """A highlighted code block. One without a language is not guessed at: that costs more than it brings."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        words = language.split()
        if not words or len(code) > PLAIN_ABOVE:
            return LiveFence.highlight(code, language)
        return highlight(code, language=words[0], theme=CodeColours)


LIVE_LISTS: Final[dict[str, type[MarkdownBlock]]] = {
    "bullet_list_open": LiveBulletList,
    "ordered_list_open": LiveOrderedList,
}


class LiveMarkdown(HeightFree, Markdown):
    """An answer. ``feed`` while it streams, ``complete`` at its end. Model output is data: links open nothing."""

    def __init__(self, text: str = "", *, live: bool = False) -> None:
        super().__init__(clean(text), open_links=False, parser_factory=parser)
        self._live = live
        self._letters: str | None = None
        self._tinted = False
        self._stream: MarkdownStream | None = None
        self._cleaner = StreamCleaner()
        self._held = self._line = ""
        self._tail = LiveTail()

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        if block_name in ("fence", "code_block"):
            return LiveFence if self._live else Fence
        if block_name == "table_open":
            return Table
        if self._live and block_name in LIVE_LISTS:
            return LIVE_LISTS[block_name]
        return super().get_block_class(block_name)

    def unhandled_token(self, token: Token) -> MarkdownBlock | None:
        return MarkdownHorizontalRule(self, token) if token.type == NESTED_RULE else None

    def update(self, markdown: str) -> AwaitComplete:
        self._tail = LiveTail()  # what comes behind a text that was given is parsed with it, once
        return super().update(markdown)

    async def feed(self, piece: str) -> None:
        """Add ``piece``; it is drawn by the stream's own task."""
        if self._stream is None:
            self._stream = Markdown.get_stream(self)
        await self._stream.write(self._cleaner.feed(piece))

    def append(self, markdown: str) -> AwaitComplete:
        """Called by the stream. What only makes a code block longer is not parsed."""
        markdown = self._without_number(markdown)
        last = self.children[-1] if self.children else None
        if isinstance(last, LiveFence) and last.takes(markdown):
            self._markdown = self.source + markdown
            return AwaitComplete(self._grow(last, markdown))
        self._markdown = self.source + markdown
        return AwaitComplete(self._parse_on())

    def _without_number(self, markdown: str) -> str:
        """A number that begins a line waits for what comes behind it: alone it would be a paragraph, and cut in two the
        list that it may be an item of."""
        markdown = self._held + markdown
        line = (self._line + markdown).rpartition("\n")[2]
        self._held = line.lstrip(" ") if _NUMBER.fullmatch(line) else ""
        markdown = markdown.removesuffix(self._held)
        self._line = (self._line + markdown).rpartition("\n")[2]
        return markdown

    async def _grow(self, fence: LiveFence, code: str) -> None:
        async with self.lock:
            await fence.grow(code)

    async def _parse_on(self) -> None:
        """Parse what may have changed, and show it."""
        async with self.lock:
            settled, blocks = self._tail.settled, self._tail_blocks()
            shown = blocks_of(self)[settled:]
            with self.app.batch_update():
                if self._tail.redefines(self.source):
                    await self.remove_children()
                    self._tail.restart()
                    shown, blocks = [], self._tail_blocks()
                await show(self, shown, blocks)
        self._settle_list()

    def _tail_blocks(self) -> list[MarkdownBlock]:
        tokens, before = self._tail.parse(self.source)
        blocks = list(self._parse_markdown(tokens))
        for block in blocks:
            start, end = block.source_range
            block.source_range = start + before, end + before
        return blocks

    def _settle_list(self) -> None:
        """Where the answer ends in a list, the next piece is parsed with the list's last item."""
        last = self.children[-1] if self.children else None
        if isinstance(last, LiveList):
            self._tail.skip(last.settle(self._tail.lines))

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

    def on_unmount(self) -> None:
        """It is taken away, perhaps in mid-answer: nothing is drawn of it any more."""
        if self._stream is not None and self._stream._task is not None:
            self._stream._pending.clear()
            self._stream._task.cancel()

    # -------------------------------------------------------------------------------------------------- the X-ray

    def tint(self, letters: str | None) -> None:
        """Lay the X-ray over a finished answer, or take it away; ``letters``: one a character of the text that was
        given, see :mod:`app.tui.xray`. Text and layout stay."""
        self._letters = letters
        self._paint()

    @on(Markdown.TableOfContentsUpdated)
    def _parsed(self) -> None:
        """The blocks are new."""
        self._tinted = False
        self._paint()

    def _paint(self) -> None:
        if self._live or (self._letters is None and not self._tinted):
            return
        self._tinted = self._letters is not None
        found = None
        if self._letters is not None and len(self._letters) == len(self.source):
            found = xray.Source.of(self.source, self._letters)
        for block in self.query(MarkdownBlock):
            if isinstance(block, TintedFence):
                block.tint(found)
            elif isinstance(block, MarkdownTable):
                _tint_table(block, found)
            elif block._inline_token is not None:
                letters = found.of_inline(block._inline_token) if found else ""
                block.update(_tinted(block._content, letters), layout=False)


def _tinted(content: Content, letters: str) -> Content:
    return content.add_spans(xray.spans(letters)) if len(letters) == len(content) else content


def _tint_table(table: MarkdownTable, found: xray.Source | None) -> None:
    """Cells are drawn by widgets of their own, in the order of the blocks they were made of."""
    blocks = [block for block in _leaves(table) if block._inline_token is not None]
    tokens: list[Token] = [block._inline_token for block in blocks if block._inline_token is not None]
    letters = found.of_cells(tokens) if found else [""] * len(blocks)
    for cell, block, its in zip(table.query(MarkdownTableCellContents), blocks, letters, strict=False):
        cell.update(_tinted(block._content, its), layout=False)


def _leaves(block: MarkdownBlock) -> Iterator[MarkdownBlock]:
    for child in block._blocks:
        if child._blocks:
            yield from _leaves(child)
        else:
            yield child
