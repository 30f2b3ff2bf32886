"""The conversation: follows its end unless the reader has gone up, and mounts only what is near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from app.tui.widgets.selectable_turn import SelectableTurn
from app.tui.widgets.turns import AnswerTurn, UserTurn

if TYPE_CHECKING:
    from app.tui.conversation import OpenChat, Turn

PAGE: Final = 20
"""Turns mounted at once when a chat is opened or 'earlier' is asked for."""
ENOUGH: Final = 3
"""Rows of a turn higher than the view that must be seen of it while it is selected."""


class Earlier(Static):
    """The row that stands for the turns that are not mounted."""

    class Wanted(Message):
        """The reader wants to see earlier turns."""

    def on_mount(self) -> None:
        self.display = False

    def on_click(self) -> None:
        self.post_message(self.Wanted())

    def count(self, turns: int) -> None:
        self.update(f"↑ {turns} earlier messages")
        self.display = turns > 0


class Transcript(VerticalScroll, can_focus=False):
    """See the module's text."""

    BLANK = True

    class Following(Message):
        """Whether the end is followed has changed."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    _following = True
    _chat: OpenChat | None = None
    _speaker = ""
    _mounted_from = 0
    _xray = False

    def compose(self) -> ComposeResult:
        # as high as the view at least: Textual's anchor would scroll a short chat below zero
        yield Vertical(Earlier(), id="turns")

    @property
    def _turns(self) -> Vertical:
        return self.query_one("#turns", Vertical)

    @property
    def following(self) -> bool:
        """Whether new text keeps the end in view."""
        return self._following

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self.anchor()

    def go(self, where: str) -> None:
        """``page_up``, ``page_down``, ``home`` or ``end``."""
        match where:
            case "end":
                self.follow()
            case "home":
                self.scroll_home(animate=False)
            case "page_up":
                self.scroll_page_up(animate=False)
            case "page_down":
                self.scroll_page_down(animate=False)

    def release_anchor(self) -> None:
        """Called by Textual when the reader scrolls."""
        super().release_anchor()
        if self.max_scroll_y > 0:
            self._set_following(False)
            self.call_later(self._resume_at_end)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value:
            self._resume_at_end()
        elif new_value <= 0 < old_value:
            self.post_message(Earlier.Wanted())

    def _resume_at_end(self) -> None:
        """Scrolling down to the end follows again; Textual alone forgets to (Textualize/textual#6677)."""
        if not self._following and self.scroll_target_y >= self.max_scroll_y:
            self.follow()

    def _set_following(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.post_message(self.Following(following))

    def on_resize(self, _event: events.Resize) -> None:
        if self._following:
            self.scroll_end(animate=False, immediate=True)

    # ------------------------------------------------------------------------------------------------- contents

    async def open(self, chat: OpenChat, speaker: str) -> None:
        """Show ``chat`` from its end. ``speaker`` is who answers, where the store does not say."""
        self._chat, self._speaker = chat, speaker
        self._mounted_from = max(0, len(chat) - PAGE)
        with self.app.batch_update():
            await self._turns.query_children(".turn").remove()
            await self._turns.mount_all(self._widgets(self._mounted_from, len(chat)))
            self.query_one(Earlier).count(self._mounted_from)
        self.follow()

    def _widgets(self, start: int, stop: int) -> list[Widget]:
        assert self._chat is not None
        turns = self._chat.turns(start, stop)
        return [
            self._answer(turn) if turn.message and turn.message.role == "assistant" else UserTurn(turn)
            for turn in turns
        ]

    def _answer(self, turn: Turn) -> AnswerTurn:
        view = AnswerTurn(turn, self._speaker)
        view.xray = self._xray
        return view

    @on(Earlier.Wanted)
    @work(group="earlier", exclusive=True, exit_on_error=False)
    async def show_earlier(self) -> None:
        """See :meth:`mount_earlier`."""
        await self.mount_earlier()

    async def mount_earlier(self) -> None:
        """Put a page of earlier turns above, without moving what is read."""
        if self._mounted_from <= 0:
            return
        stop, self._mounted_from = self._mounted_from, max(0, self._mounted_from - PAGE)
        row = self.query_one(Earlier)
        height, at = self.virtual_size.height, self.scroll_y
        await self._turns.mount_all(self._widgets(self._mounted_from, stop), after=row)
        row.count(self._mounted_from)

        def keep_place() -> None:
            self.scroll_to(y=at + self.virtual_size.height - height, animate=False, force=True, release_anchor=False)

        self.call_after_refresh(keep_place)

    def show_attached(self) -> None:
        """More is known about attached files."""
        for turn in self._turns.query(UserTurn):
            turn.show_attached()

    async def append(self, *widgets: UserTurn | AnswerTurn) -> None:
        """Add turns at the end."""
        for widget in widgets:
            if isinstance(widget, AnswerTurn):
                widget.xray = self._xray
        with self.app.batch_update():
            await self._turns.mount_all(widgets)
        if self._following:
            self.anchor()

    # ------------------------------------------------------------------------------------------------- the answers

    def answers(self) -> list[AnswerTurn]:
        """The answers that are mounted, oldest first."""
        return list(self.query(AnswerTurn))

    def show_xray(self, on: bool) -> None:
        """Tint the tokens of every answer by who proposed them, or no longer."""
        self._xray = on
        with self.app.batch_update():
            for view in self.answers():
                view.show_xray(on)

    # -------------------------------------------------------------------------------------------------- single turns

    @property
    def views(self) -> list[SelectableTurn]:
        """The turns that are mounted, oldest first."""
        return list(self._turns.query_children(".turn").results(SelectableTurn))

    @property
    def has_earlier(self) -> bool:
        """Whether there are turns above those that are mounted."""
        return self._mounted_from > 0

    def from_message(self, message_id: int) -> list[SelectableTurn]:
        """The turn of this message and all behind it; empty when it is not mounted."""
        views = self.views
        at = [view.turn.message.id if view.turn.message else 0 for view in views]
        return views[at.index(message_id) :] if message_id in at else []

    async def take_away(self, views: Sequence[Widget]) -> None:
        """Remove turns."""
        if views:
            await self._turns.remove_children(views)

    async def add_from(self, at: int) -> list[SelectableTurn]:
        """Mount the turns of the chat from position ``at`` on, behind those that are there; at most a page of them,
        so :meth:`add_rest` has to follow. Reading goes on where it is."""
        assert self._chat is not None
        stop = min(len(self._chat), at + PAGE)
        if self._following and at + 1 < len(self._chat):
            super().release_anchor()
            self._set_following(False)
        before = len(self.views)
        await self._turns.mount_all(self._widgets(at, stop))
        return self.views[before:]

    async def add_rest(self, at: int) -> None:
        """Mount what is still missing behind :meth:`add_from`, a page at a time, so that keys are not held up."""
        assert self._chat is not None
        for start in range(at + PAGE, len(self._chat), PAGE):
            await self._turns.mount_all(self._widgets(start, start + PAGE))
        self.call_after_refresh(self._resume_at_end)

    def last_seen(self) -> SelectableTurn | None:
        """The lowest turn in view."""
        views = self.views
        if self._following:
            return views[-1] if views else None
        seen = [view for view in views if view.region.intersection(self.region).area]
        return seen[-1] if seen else (views[-1] if views else None)

    def reveal(self, view: Widget) -> None:
        """Scroll as little as shows the turn; one that is higher than the view stays where it is once it is seen."""
        region = view.region
        seen = region.intersection(self.region).height
        if seen < min(region.height, ENOUGH if region.height > self.region.height else region.height):
            self.scroll_to_widget(view, animate=False)
