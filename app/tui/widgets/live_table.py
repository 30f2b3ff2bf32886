"""A table, also while it grows: the cells that are there stay, and the last one may say more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.app import ComposeResult
from textual.content import Content
from textual.css.types import TextAlign
from textual.widgets._markdown import MarkdownTable, MarkdownTableCellContents, MarkdownTableContent, MarkdownTH
from textual.widgets.markdown import MarkdownBlock

ALIGNED: Final[dict[str, TextAlign]] = {"text-align:right": "right", "text-align:center": "center"}
"""What the parser makes of ``--:`` and ``:-:`` below a heading; Textual has every column begin at the left."""


class Cells(MarkdownTableContent):
    """A table's cells, under each other as the table says, and without tool tips: Textual would take the text in them
    for markup."""

    def __init__(self, headers: list[Content], rows: list[list[Content]], columns: Sequence[TextAlign]) -> None:
        super().__init__(headers, rows)
        self._columns = columns

    def compose(self) -> ComposeResult:
        for at, cell in enumerate(super().compose()):
            cell.tooltip = None
            cell.styles.text_align = self._column(at)
            yield cell

    def _column(self, at: int) -> TextAlign:
        """How the cell with this number, in the order of reading, stands in its column."""
        return self._columns[at % len(self._columns)] if self._columns else "left"

    async def grow(self, headers: list[Content], rows: list[list[Content]], columns: Sequence[TextAlign]) -> None:
        """Show these, as :meth:`compose` would. Textual takes the last row away and mounts it anew, in cells of another
        kind."""
        self.headers, self.rows, self._columns = headers, rows, columns
        cells = list(self.query_children(MarkdownTableCellContents))
        contents = [*headers, *(cell for row in rows for cell in row)]
        for cell in cells[len(contents) :]:
            await cell.remove()
        for cell, content in zip(cells, contents, strict=False):
            if not isinstance(cell.content, Content) or not cell.content.is_same(content):
                cell.update(content)
        for at, cell in enumerate(cells):
            if cell.styles.text_align != self._column(at):
                cell.styles.text_align = self._column(at)
        await self.mount_all(list(self.compose())[len(cells) :])
        self.refresh(layout=True)  # its lines lie between the cells, wherever these come to lie


class Table(MarkdownTable):
    """A table of :class:`Cells`."""

    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield Cells(self._headers, self._rows, list(_columns(self)))

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        """More of it was parsed, under the same heading."""
        self._copy_context(block)
        self._blocks = block._blocks
        self._headers, self._rows = self._get_headers_and_rows()
        await self.query_one(Cells).grow(self._headers, self._rows, list(_columns(self)))


def _columns(block: MarkdownBlock) -> Iterator[TextAlign]:
    """How its columns stand."""
    for child in block._blocks:
        if isinstance(child, MarkdownTH):
            yield ALIGNED.get(str(child._token.attrs.get("style")), "left")
        else:
            yield from _columns(child)
