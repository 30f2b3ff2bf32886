"""Blocks of an answer that were parsed again, shown in the place of those on screen: what can grow, grows.

Textual takes a block away and mounts the new one, at the end of the answer wherever it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget
from textual.widgets._markdown import MarkdownBlockQuote, MarkdownHeader, MarkdownList, MarkdownParagraph, MarkdownTable
from textual.widgets.markdown import MarkdownBlock, MarkdownFence


def blocks_of(parent: Widget) -> list[MarkdownBlock]:
    """What is on screen of it."""
    return [child for child in parent.children if isinstance(child, MarkdownBlock)]


async def show(parent: Widget, shown: Sequence[MarkdownBlock], blocks: Sequence[MarkdownBlock]) -> None:
    """Show ``blocks``, where ``shown`` are the last ones in ``parent``."""
    for block in shown[len(blocks) :]:
        await block.remove()
    for block, again in zip(shown, blocks, strict=False):
        await _grow(block, again)
    await parent.mount_all(blocks[len(shown) :])


async def _grow(block: MarkdownBlock, again: MarkdownBlock) -> None:
    block.source_range = again.source_range
    if type(block) is not type(again):
        await _replace(block, again)
    elif isinstance(block, (MarkdownParagraph, MarkdownHeader)):
        if not block._content.is_same(again._content):
            block.set_content(again._content)
        block._token, block._inline_token = again._token, again._inline_token
    elif isinstance(block, MarkdownBlockQuote):
        block._copy_context(again)
        await show(block, blocks_of(block), again._blocks)
    elif isinstance(block, (MarkdownFence, MarkdownList, MarkdownTable)):
        await block._update_from_block(again)
    else:
        await _replace(block, again)


async def _replace(block: MarkdownBlock, other: MarkdownBlock) -> None:
    if isinstance(block.parent, Widget):
        await block.parent.mount(other, after=block)
    await block.remove()
