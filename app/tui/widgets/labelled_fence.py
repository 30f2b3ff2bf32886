"""A code block with a label row, where its upper edge was."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from app.tui.widgets.code_label import CodeLabel


class LabelledFence(MarkdownFence):
    """Put it below whatever draws the code."""

    def compose(self) -> ComposeResult:
        yield CodeLabel(self)
        yield from super().compose()

    def _copy_context(self, block: MarkdownBlock) -> None:
        """More of the block has arrived; the language may have."""
        super()._copy_context(block)
        for label in self.query(CodeLabel):
            label.refresh()
