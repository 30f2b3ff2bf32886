"""A code block while it grows: a frame costs the same, however long the block has become.

Textual parses, wraps and draws the whole block at every piece. Here lines that lie far enough behind settle into labels
of their own, which are not touched again, and a piece that does not end the block is added without any parsing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widgets import Label
from textual.widgets.markdown import Markdown, MarkdownBlock, MarkdownFence

from app.tui import xray
from app.tui.widgets.tinted_fence import TintedFence

if TYPE_CHECKING:
    from markdown_it.token import Token

SETTLING: Final = 20
"""Lines that settle at once, at most; as many stay behind them."""
_NEWLINE: Final = Content("\n")


class LiveFence(TintedFence):
    """Without highlighting: Pygments would go over the whole block at every piece."""

    def __init__(self, markdown: Markdown, token: Token, code: str) -> None:
        super().__init__(markdown, token, code)
        self._settled: list[int] = []
        """How many lines each of the labels before the last one shows."""
        self._read(token)

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        return Content("\n".join(code.splitlines()))

    def _read(self, token: Token) -> None:
        self._said = token.content
        self._tail = "".join(token.content.splitlines(keepends=True)[sum(self._settled) :])
        """What lies behind the lines that have settled, just as it was said."""
        fence, lines = token.markup, token.content.count("\n") + bool(token.content.rpartition("\n")[2])
        self._end = re.compile(rf" {{0,3}}{re.escape(fence)}(?:{re.escape(fence[:1])})*[ \t]*")
        self._open = token.type == "fence" and token.map is not None and token.map[1] - token.map[0] == lines + 1
        self._flush = False
        """Known to begin at the left edge, its first line whole, and to have been read to its end."""

    # ----------------------------------------------------------------------------------------------------- growing

    def takes(self, piece: str) -> bool:
        """Whether ``piece``, the next one of the answer, is code of this block and nothing else."""
        if not self._open or self._token.level:
            return False
        if not self._flush:
            source = self.source or ""
            whole = self._markdown.source.endswith(self._said)  # the parser leaves out a last line of blanks alone
            self._flush = whole and source.startswith(self._token.markup) and "\n" in source
        last_line = self._tail.rpartition("\n")[2]
        return self._flush and not any(self._end.fullmatch(line) for line in (last_line + piece).split("\n"))

    async def grow(self, piece: str) -> None:
        """Add what it :meth:`takes`."""
        self._said += piece
        self._tail += piece
        self.code = self._said.rstrip()
        with self.app.batch_update():
            await self._settle()
            self._last.update(self.highlight(self._tail.rstrip(), self.lexer))

    async def _settle(self) -> None:
        lines = self._tail.splitlines(keepends=True)
        if len(lines) <= 2 * SETTLING:
            return
        # a label does not show a blank line at its end
        count = next((count for count in range(SETTLING, 0, -1) if lines[count - 1].strip()), 0)
        if count and any(line.strip() for line in lines[count:]):  # nor is there one of nothing but blank lines
            settled = self.highlight("".join(lines[:count]), self.lexer)
            classes = "settled" if self._settled else "settled first"
            await self.mount(Label(settled, classes=classes, expand=True, markup=False), before=self._last)
            self._last.add_class("rest")
            self._settled.append(count)
            self._tail = "".join(lines[count:])

    @property
    def _last(self) -> Label:
        return self.query_one("#code-content", Label)

    # ------------------------------------------------------------------------------------------------- as a whole

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """The block was parsed again."""
        if isinstance(block, MarkdownFence):
            if not block._token.content.startswith(self._said.removesuffix(self._tail)):
                await self.query_children(".settled").remove()
                self._last.remove_class("rest")
                self._settled.clear()
            self._read(block._token)
        await super()._update_from_block(block)

    def tint(self, found: xray.Source | None) -> None:
        self._highlighted_code = self.highlight(self.code, self.lexer)
        super().tint(found)

    def set_content(self, content: Content) -> None:
        """All of the code, perhaps with a tint: give each label its lines."""
        super().set_content(content)
        if self._settled:
            lines, at = self._content.split("\n", allow_blank=True), 0
            for label, count in zip(self.query_children(".settled").results(Label), self._settled, strict=True):
                label.update(_NEWLINE.join(lines[at : at + count]))
                at += count
            self._last.update(_NEWLINE.join(lines[at:]))
