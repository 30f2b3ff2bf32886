"""The first row of the Chats screen: how many there are."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive

from app.tui.widgets.line import Line


class ChatsHeader(Line):
    """``chats`` at the left, their number at the right."""

    words: reactive[str] = reactive("")

    def parts(self, width: int) -> tuple[Content, Content]:
        return Content.styled("chats", "bold $accent"), Content.styled(self.words, "$muted")
