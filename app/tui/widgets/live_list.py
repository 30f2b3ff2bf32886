"""A list while it grows: what is on screen of it stays there, and only its last item is parsed again.

Textual parses the whole list at every piece, takes it away and mounts it anew. A piece changes only the last item, and
adds some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets._markdown import (
    MarkdownBullet,
    MarkdownBulletList,
    MarkdownList,
    MarkdownListItem,
    MarkdownOrderedList,
    MarkdownParagraph,
)
from textual.widgets.markdown import Markdown, MarkdownBlock, MarkdownFence

if TYPE_CHECKING:
    from markdown_it.token import Token

GROUP: Final = 12
"""Items that are laid out together: of a group that has not changed the height is known."""
CERTAIN: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+.*[^-*_\s]")
"""A line that begins an item, whatever comes behind it; ``* *`` may still become a rule, and ``-`` part of a word."""


class LiveList(MarkdownList):
    """Put it behind the kind of list: styles are those of the first base class."""

    def __init__(self, markdown: Markdown, token: Token) -> None:
        super().__init__(markdown, token)
        self._settled = 0
        """How many items are not parsed any more."""
        self._first = 1
        self._parsed: list[MarkdownListItem] = []

    def settle(self, lines: Sequence[str]) -> int:
        """From here on only the last item is parsed, and what comes behind it. ``lines``: the answer's from the list
        on, as it was parsed last. Gives at which of them the last item begins; 0: all are parsed again."""
        shown = self._settled + len(self._parsed) == len(self.rows)
        if len(self._parsed) < 2 or not shown:
            return 0
        first, last = self._parsed[0]._token.map, self._parsed[-1]._token.map
        at = last[0] - first[0] if first and last else 0
        if at <= 0 or CERTAIN.match(lines[at]) is None:
            return 0
        self._settled += len(self._parsed) - 1
        del self._parsed[:-1]
        return at

    def compose(self) -> ComposeResult:
        """The items, numbered from the number of the first one."""
        self._parsed = self._take_items(self)
        if self._parsed and self._parsed[0].bullet.isdecimal():
            self._first = int(self._parsed[0].bullet)
        yield from _groups(self._rows(0, self._settled + len(self._parsed)))

    @property
    def rows(self) -> list[Horizontal]:
        """One for each item on screen."""
        return [row for group in self.query_children(Vertical) for row in group.query_children(Horizontal)]

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """What has not settled was parsed again; mostly it is longer."""
        rows = self.rows
        items = self._take_items(block) if type(block) is type(self) else []
        if not items:
            await _replace(self, block, keep=self._settled > 0)
            return
        known = len(rows) - self._settled
        if known > len(items):  # what looked like an item is none
            for row in rows[self._settled :]:
                await row.remove()
            rows, known = rows[: self._settled], 0
        self._copy_context(block)
        self._parsed, count = items, self._settled + len(items)
        for number, row in enumerate(rows):
            self._number(row.query_one(MarkdownBullet), number, count)
        if known:
            await _grow(rows[-1].query_one(Vertical), items[known - 1]._blocks)
        await self._add(self._rows(known, count))

    async def _add(self, rows: Sequence[Horizontal]) -> None:
        group = self.query_children(Vertical).last()
        room = max(0, GROUP - len(group.children))
        await group.mount_all(rows[:room])
        await self.mount_all(_groups(rows[room:]))

    def _take_items(self, block: MarkdownBlock) -> list[MarkdownListItem]:
        items = [item for item in block._blocks if isinstance(item, MarkdownListItem)]
        block._blocks.clear()
        return items

    def _rows(self, known: int, count: int) -> list[Horizontal]:
        """One for each item that was parsed but the first ``known`` ones; the list has ``count`` items."""
        rows = []
        for number, item in enumerate(self._parsed[known:], self._settled + known):
            bullet = MarkdownBullet()
            bullet.symbol = item.bullet
            self._number(bullet, number, count)
            rows.append(Horizontal(bullet, Vertical(*item._blocks)))
        return rows

    def _number(self, bullet: MarkdownBullet, number: int, count: int) -> None:
        """Where bullets are numbers."""


class LiveBulletList(MarkdownBulletList, LiveList):
    """One with bullets."""

    compose = LiveList.compose


class LiveOrderedList(MarkdownOrderedList, LiveList):
    """One with numbers."""

    compose = LiveList.compose

    def _number(self, bullet: MarkdownBullet, number: int, count: int) -> None:
        width = len(str(self._first + count - 1)) + 3  # ten items are numbered wider than nine
        symbol = f"{self._first + number}. ".rjust(width)
        if bullet.symbol != symbol:
            bullet.symbol = symbol
            bullet.refresh(layout=True)


def _groups(rows: Sequence[Horizontal]) -> list[Vertical]:
    return [Vertical(*rows[at : at + GROUP]) for at in range(0, len(rows), GROUP)]


async def _grow(item: Vertical, blocks: Sequence[MarkdownBlock]) -> None:
    """Show ``blocks`` in an item that shows some of them: all but the last of those are as they were."""
    here = [block for block in item.children if isinstance(block, MarkdownBlock)]
    if here and len(here) <= len(blocks):
        last, again = here[-1], blocks[len(here) - 1]
        if isinstance(last, (MarkdownParagraph, MarkdownFence, LiveList)) and type(last) is type(again):
            await last._update_from_block(again)
        else:
            await _replace(last, again)
        await item.mount_all(blocks[len(here) :])
    else:
        await item.remove_children()
        await item.mount_all(blocks)


async def _replace(block: MarkdownBlock, other: MarkdownBlock, *, keep: bool = False) -> None:
    """In the same place; Textual would put it at the end of the answer. ``keep``: behind it."""
    if isinstance(block.parent, Widget):
        await block.parent.mount(other, after=block)
    if not keep:
        await block.remove()
