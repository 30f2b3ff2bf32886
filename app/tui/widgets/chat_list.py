"""The list of chats. Only the rows on screen are laid out and drawn, so two thousand cost no more than twenty."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from textwrap import wrap
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from app.chats.records import Conversation
from app.tui.keys import CHAT_LIST
from app.tui.widgets.chat_row import MARK, WHEN, Row, heading_line, snippet_line, title_line

_GAP = -1
"""Stands for the empty line above a heading."""


class ChatList(ScrollView, can_focus=True):
    """Rows of chats, one of them highlighted. The keys that do something with it belong to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT_LIST]
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"chat-list--highlighted"}

    class Highlighted(Message):
        """Another row is highlighted, or none."""

    class Acted(Message):
        """The row that was highlighted already has been clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.here: int | None = None
        """The chat that is open behind this list."""
        self.elsewhere: frozenset[int] = frozenset()
        """Those that other instances have open."""
        self.words: tuple[str, ...] = ()
        """What was searched for."""
        self._rows: Sequence[Row] = ()
        self._nothing = ""
        self._now = datetime.now()
        self._lines: list[tuple[int, int]] = []
        """Of each line: the row, and which line of it."""
        self._tops: list[int] = []
        """The first lines of the chats, in order; ``_chats`` has their rows."""
        self._chats: list[int] = []
        self._place: int | None = None

    # ------------------------------------------------------------------------------------------------- contents

    @property
    def row(self) -> Row | None:
        """The highlighted one."""
        return None if self._place is None else self._rows[self._chats[self._place]]

    @property
    def chat(self) -> Conversation | None:
        """The chat of the highlighted row."""
        return self.row.chat if self.row else None

    @property
    def count(self) -> int:
        """Chats in the list."""
        return len(self._chats)

    def show(
        self, rows: Sequence[Row], now: datetime, nothing: str, *, keep: int | None = None, at_top: bool = False
    ) -> None:
        """Replace the rows. The highlight stays on its chat, or else on its place; ``keep``: the chat to highlight
        where none was; ``at_top``: the first row, whatever was before; ``nothing``: said where there is no row."""
        before, place = (None, None) if at_top else (self.chat, self._place)
        self._rows, self._now, self._nothing = rows, now, nothing
        self._lay_out()
        wanted = before.id if before else None if at_top else keep
        here = (n for n, at in enumerate(self._chats) if (chat := rows[at].chat) is not None and chat.id == wanted)
        self._place = next(here, min(place or 0, len(self._chats) - 1)) if self._chats else None
        self.refresh()
        self.call_after_refresh(self.scroll_to_row)
        self.post_message(self.Highlighted())

    def _lay_out(self) -> None:
        self._lines, self._tops, self._chats = [], [], []
        for at, row in enumerate(self._rows):
            if row.chat is None:
                self._lines += [(_GAP, 0)] * bool(self._lines)
            else:
                self._chats.append(at)
                self._tops.append(len(self._lines))
            self._lines += [(at, part) for part in range(row.height)]
        self._measure()

    def _measure(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._lines))

    def on_resize(self) -> None:
        self._measure()
        self.refresh()
        self.call_after_refresh(self.scroll_to_row)

    # -------------------------------------------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        at, part = self._lines[line] if line < len(self._lines) else (_GAP, 0)
        highlighted = self._place is not None and at == self._chats[self._place]
        style = self.get_visual_style("chat-list--highlighted") if highlighted else self.visual_style
        content = self._content(self._rows[at], part, width) if at != _GAP else self._said(line, width)
        strips = Visual.to_strips(self, content, width, 1, style) if content else []
        strip = strips[0] if strips else Strip.blank(width, style.rich_style)
        return strip.extend_cell_length(width, style.rich_style).apply_meta({"row": at})

    def _said(self, line: int, width: int) -> Content:
        """What stands in the place of rows where there are none."""
        lines = wrap(self._nothing, max(20, width - 2 * MARK)) if not self._rows else []
        return Content.styled(" " * MARK + lines[line], "$muted") if line < len(lines) else Content()

    def _content(self, row: Row, part: int, width: int) -> Content:
        if row.chat is None:
            return heading_line(row.heading)
        if part:
            return snippet_line(row, width, self.words)
        here, elsewhere = row.chat.id == self.here, row.chat.id in self.elsewhere
        return title_line(row, width, self._now, here=here, elsewhere=elsewhere, words=self.words)

    # --------------------------------------------------------------------------------------------------- moving

    def row_region(self) -> Region | None:
        """Where the title of the highlighted row is, in cells of this widget."""
        if self._place is None:
            return None
        top = self._tops[self._place] - self.scroll_offset.y
        return Region(self.gutter.left, top + self.gutter.top, self.scrollable_content_region.width - WHEN, 1)

    def scroll_to_row(self) -> None:
        """Have the highlighted row in view, and the heading above it."""
        if self._place is None or not self.is_attached:
            return
        top, row = self._tops[self._place], self._chats[self._place]
        above = min(2, top) if self._place == 0 or self._chats[self._place - 1] != row - 1 else 0  # its heading
        region = Region(0, top - above, 1, self._rows[row].height + above)
        self.scroll_to_region(region, force=True, animate=False, immediate=True)

    def _go(self, place: int) -> None:
        if not self._chats:
            return
        place = max(0, min(place, len(self._chats) - 1))
        if place != self._place:
            self._place = place
            self.refresh()
            self.post_message(self.Highlighted())
        self.scroll_to_row()

    def go_to(self, conversation_id: int) -> None:
        """Highlight that chat, if it is in the list."""
        for place, at in enumerate(self._chats):
            chat = self._rows[at].chat
            if chat is not None and chat.id == conversation_id:
                self._go(place)

    def action_cursor_up(self) -> None:
        self._go((self._place or 0) - 1)

    def action_cursor_down(self) -> None:
        self._go((self._place or 0) + 1)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._chats) - 1)

    def _page(self, direction: int) -> None:
        if self._place is not None:
            line = self._tops[self._place] + direction * self.scrollable_content_region.height
            self._go(bisect_left(self._tops, line))

    def on_click(self, event: events.Click) -> None:
        """A click chooses a row, the second one opens it."""
        at = event.style.meta.get("row")
        if at not in self._chats:
            return
        place = self._chats.index(at)
        if place == self._place:
            self.post_message(self.Acted())
        self._go(place)
