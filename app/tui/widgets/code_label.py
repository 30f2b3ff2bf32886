"""The first row of a code block: its language, and a word to click that copies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message

from app.clean import clean_line
from app.tui.widgets.line import Line

if TYPE_CHECKING:
    from textual.widgets.markdown import MarkdownFence


class CodeLabel(Line):
    """``python`` at the left, ``copy`` at the right; with the key that does it while the turn is selected."""

    ALLOW_SELECT = False

    class CopyWanted(Message):
        """The row was clicked."""

        def __init__(self, label: CodeLabel) -> None:
            super().__init__()
            self.label = label

    def __init__(self, fence: MarkdownFence) -> None:
        super().__init__()
        self.fence = fence
        self._key = ""

    def show_key(self, key: str) -> None:
        """The key that copies this block now; empty: none."""
        if key != self._key:
            self._key = key
            self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        words = self.fence.lexer.split()
        language = clean_line(words[0], 30) if words else "text"
        style = "$accent" if self.mouse_hover else "$faint"
        key = (f"  {self._key}", "$muted") if self._key else ""
        return Content.styled(language, "$faint"), Content.assemble(("copy", style), key)

    def on_enter(self) -> None:
        self.refresh()

    def on_leave(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        event.stop()  # the turn is not meant
        self.post_message(self.CopyWanted(self))
