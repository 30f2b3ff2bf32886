"""A list while it grows: what is on screen of it stays there.

Textual takes the whole list away at every piece and mounts it anew. A piece changes only the last item, and adds some.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets._markdown import (
    MarkdownBullet,
    MarkdownBulletList,
    MarkdownList,
    MarkdownOrderedList,
    MarkdownParagraph,
)
from textual.widgets.markdown import MarkdownBlock, MarkdownFence


class LiveList(MarkdownList):
    """Put it behind the kind of list: styles are those of the first base class."""

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """The list was parsed again, and it is longer."""
        rows = list(self.query_children(Horizontal))
        if type(block) is not type(self) or not rows:
            await _replace(self, block)
            return
        again = [row for row in block.compose() if isinstance(row, Horizontal)]
        if len(again) < len(rows):
            await self.remove_children()
            await self.mount_all(again)
            return
        self._copy_context(block)
        for row, its in zip(rows, again, strict=False):
            bullet, fresh = row.query_one(MarkdownBullet), its._pending_children[0]
            if isinstance(fresh, MarkdownBullet) and bullet.symbol != fresh.symbol:
                bullet.symbol = fresh.symbol  # ten items are numbered wider than nine
                bullet.refresh(layout=True)
        await _grow(rows[-1].query_one(Vertical), _inside(again[len(rows) - 1]))
        await self.mount_all(again[len(rows) :])


class LiveBulletList(MarkdownBulletList, LiveList):
    """One with bullets."""


class LiveOrderedList(MarkdownOrderedList, LiveList):
    """One with numbers."""


def _inside(row: Horizontal) -> list[MarkdownBlock]:
    """The blocks of an item that is not mounted."""
    return [block for block in row._pending_children[1]._pending_children if isinstance(block, MarkdownBlock)]


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


async def _replace(block: MarkdownBlock, other: MarkdownBlock) -> None:
    """In the same place; Textual would put it at the end of the answer."""
    if isinstance(block.parent, Widget):
        await block.parent.mount(other, after=block)
    await block.remove()
