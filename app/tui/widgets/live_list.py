"""A list while it grows: what is on screen of it stays there, and only its last item is parsed again.

Textual parses the whole list at every piece, takes it away and mounts it anew. A piece changes only the last item, and
adds some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets._markdown import (
    MarkdownBullet,
    MarkdownBulletList,
    MarkdownList,
    MarkdownListItem,
    MarkdownOrderedList,
)
from textual.widgets.markdown import Markdown, MarkdownBlock

from app.tui.widgets.column import Column, HeightFree
from app.tui.widgets.growing import blocks_of, show

if TYPE_CHECKING:
    from markdown_it.token import Token

GROUP: Final = 12
"""Items that are laid out together: of a group that has not changed the height is known."""
CERTAIN: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+.*[^-*_\s]")
"""A line that begins an item, whatever comes behind it; ``* *`` may still become a rule, and ``-`` part of a word."""


class LiveList(HeightFree, MarkdownList):
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
        return [row for group in self.query_children(Column) for row in group.query_children(Horizontal)]

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """What has not settled was parsed again; mostly it is longer."""
        rows = self.rows
        items = self._take_items(block)
        known = len(rows) - self._settled
        if known > len(items):  # what looked like an item is none
            for row in rows[self._settled :]:
                await row.remove()
            rows, known = rows[: self._settled], 0
        self._copy_context(block)
        self._parsed, count = items, self._settled + len(items)
        self._renumber(rows, count)
        if known:
            item = rows[-1].query_one(Column)
            await show(item, blocks_of(item), items[known - 1]._blocks)
        await self._add(self._rows(known, count))

    async def _add(self, rows: Sequence[Horizontal]) -> None:
        group = self.query_children(Column).last()
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
            rows.append(Horizontal(bullet, Column(*item._blocks)))
        return rows

    def _renumber(self, rows: Sequence[Horizontal], count: int) -> None:
        """The list has ``count`` items now."""

    def _number(self, bullet: MarkdownBullet, number: int, count: int) -> None:
        """Where bullets are numbers."""


class LiveBulletList(MarkdownBulletList, LiveList):
    """One with bullets."""

    compose = LiveList.compose


class LiveOrderedList(MarkdownOrderedList, LiveList):
    """One with numbers."""

    compose = LiveList.compose
    _width = 0

    def _renumber(self, rows: Sequence[Horizontal], count: int) -> None:
        if self._width != self._width_of(count):
            for number, row in enumerate(rows):
                self._number(row.query_one(MarkdownBullet), number, count)

    def _width_of(self, count: int) -> int:
        """Ten items are numbered wider than nine."""
        return len(str(self._first + count - 1)) + 3

    def _number(self, bullet: MarkdownBullet, number: int, count: int) -> None:
        self._width = self._width_of(count)
        symbol = f"{self._first + number}. ".rjust(self._width)
        if bullet.symbol != symbol:
            bullet.symbol = symbol
            bullet.refresh(layout=True)


def _groups(rows: Sequence[Horizontal]) -> list[Column]:
    return [Column(*rows[at : at + GROUP]) for at in range(0, len(rows), GROUP)]
