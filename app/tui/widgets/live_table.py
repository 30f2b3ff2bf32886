"""A table, also while it grows: the cells that are there stay, and the last one may say more."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets._markdown import MarkdownTable, MarkdownTableCellContents, MarkdownTableContent
from textual.widgets.markdown import MarkdownBlock


class Cells(MarkdownTableContent):
    """A table's cells without tool tips: Textual would take the text in them for markup."""

    def compose(self) -> ComposeResult:
        for cell in super().compose():
            cell.tooltip = None
            yield cell

    async def grow(self, headers: list[Content], rows: list[list[Content]]) -> None:
        """Show these, as :meth:`compose` would. Textual takes the last row away and mounts it anew, in cells of another
        kind."""
        self.headers, self.rows = headers, rows
        cells = list(self.query_children(MarkdownTableCellContents))
        contents = [*headers, *(cell for row in rows for cell in row)]
        for cell in cells[len(contents) :]:
            await cell.remove()
        for cell, content in zip(cells, contents, strict=False):
            if not isinstance(cell.content, Content) or not cell.content.is_same(content):
                cell.update(content)
        await self.mount_all(list(self.compose())[len(cells) :])
        self.refresh(layout=True)  # its lines lie between the cells, wherever these come to lie


class Table(MarkdownTable):
    """A table of :class:`Cells`."""

    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield Cells(self._headers, self._rows)

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """More of it was parsed, under the same heading."""
        self._copy_context(block)
        self._blocks = block._blocks
        self._headers, self._rows = self._get_headers_and_rows()
        await self.query_one(Cells).grow(self._headers, self._rows)
