"""The conversation: follows its end unless the reader has gone up, and mounts only what is near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import AwaitMount, Widget

from app.tui.found import mark
from app.tui.widgets.column import Column
from app.tui.widgets.following import FollowingScroll
from app.tui.widgets.more_rows import Earlier, Later
from app.tui.widgets.selectable_turn import SelectableTurn
from app.tui.widgets.turns import AnswerTurn, UserTurn

if TYPE_CHECKING:
    from app.tui.conversation import OpenChat, Turn

PAGE: Final = 20
"""Turns mounted at once when a chat is opened or 'earlier' is asked for."""
ENOUGH: Final = 3
"""Rows of a turn higher than the view that must be seen of it while it is selected."""


class Transcript(FollowingScroll, can_focus=False):
    """See the module's text."""

    BLANK = True

    _chat: OpenChat | None = None
    _speaker = ""
    _mounted_from = 0
    _mounted_to: int | None = None
    """The first turn below that is not mounted; None: all are, up to the end."""
    _xray = False
    _sent_from: int | None = None
    """The message above which nothing was sent for the last answer."""

    def compose(self) -> ComposeResult:
        # as high as the view at least: Textual's anchor would scroll a short chat below zero
        yield Column(Earlier(), Later(), id="turns")

    @property
    def _turns(self) -> Vertical:
        return self.query_one("#turns", Vertical)

    def follow(self) -> None:
        """Go to the end and stay there."""
        if self._mounted_to is not None:
            self._to_the_end()
        else:
            super().follow()

    def go(self, where: str) -> None:
        """``page_up``, ``page_down``, ``home`` or ``end``."""
        match where:
            case "end":
                self.follow()
            case "home":
                if self.has_earlier and all(view.turn.message is not None for view in self.views):
                    self._to_the_beginning()
                else:  # what is being made or waits to be sent stays mounted
                    self.scroll_home(animate=False)
            case "page_up":
                self.scroll_page_up(animate=False)
            case "page_down":
                self.scroll_page_down(animate=False)

    def top_reached(self) -> None:
        self.post_message(Earlier.Wanted())

    def end_reached(self) -> None:
        if self._mounted_to is not None:
            self.post_message(Later.Wanted())
        else:
            super().end_reached()

    # ------------------------------------------------------------------------------------------------- contents

    async def open(self, chat: OpenChat, speaker: str, *, found: int | None = None) -> None:
        """Show ``chat`` from its end, or where the message ``found`` is. ``speaker`` is who answers, where the store
        does not say."""
        self._chat, self._speaker = chat, speaker
        at = chat.position(found) if found is not None else None
        if found is None or at is None:
            await self._show_page(len(chat) - PAGE)
            self.follow()
        else:
            await self._show_page(min(at - PAGE // 2, len(chat) - PAGE))
            self.let_go()
            self.call_after_refresh(self._go_to_found, found)

    async def _show_page(self, start: int) -> None:
        """Mount one page of turns in the place of those that are there."""
        assert self._chat is not None
        self._mounted_from = max(0, start)
        stop = min(len(self._chat), self._mounted_from + PAGE)
        with self.app.batch_update():
            await self._turns.query_children(".turn").remove()
            await self._mount_last(self._widgets(self._mounted_from, stop))
            self.query_one(Earlier).count(self._mounted_from)
            self._note_mounted_to(stop)

    def _mount_last(self, widgets: Sequence[Widget]) -> AwaitMount:
        return self._turns.mount_all(widgets, before=self.query_one(Later))

    def _note_mounted_to(self, stop: int) -> None:
        """What is mounted ends before the turn ``stop``."""
        assert self._chat is not None
        missing = max(0, len(self._chat) - stop)
        self._mounted_to = stop if missing else None
        self.query_one(Later).count(missing)

    def _go_to_found(self, message_id: int) -> None:
        if view := next(iter(self.from_message(message_id)), None):
            self.scroll_to_widget(view, animate=False, top=True, immediate=True)
            mark(view)
            self.resume_at_end()  # where the end is in view with it

    @work(group="later", exclusive=True, exit_on_error=False)
    async def _to_the_end(self) -> None:
        """Show the last page, and follow the end again."""
        assert self._chat is not None
        await self._show_page(len(self._chat) - PAGE)
        self.follow()

    @work(group="earlier", exclusive=True, exit_on_error=False)
    async def _to_the_beginning(self) -> None:
        """Show the first page, from its first line."""
        await self._show_page(0)
        self.let_go()
        self.call_after_refresh(self.scroll_home, animate=False)

    def _widgets(self, start: int, stop: int) -> list[SelectableTurn]:
        assert self._chat is not None
        turns = self._chat.turns(start, stop)
        views: list[SelectableTurn] = [
            self._answer(turn) if turn.message and turn.message.role == "assistant" else UserTurn(turn)
            for turn in turns
        ]
        for view in views:
            view.mark_sent_from(self._sent_from)
        return views

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

    @on(Later.Wanted)
    @work(group="later", exclusive=True, exit_on_error=False)
    async def show_later(self) -> None:
        """See :meth:`mount_later`."""
        await self.mount_later()

    async def mount_later(self) -> None:
        """Put a page of later turns below."""
        if self._chat is None or self._mounted_to is None:
            return
        start, stop = self._mounted_to, min(len(self._chat), self._mounted_to + PAGE)
        self._note_mounted_to(stop)
        await self._mount_last(self._widgets(start, stop))

    def show_attached(self) -> None:
        """More is known about attached files."""
        for turn in self._turns.query(UserTurn):
            turn.show_attached()

    async def append(self, *widgets: UserTurn | AnswerTurn) -> None:
        """Add turns at the end."""
        for widget in widgets:
            if isinstance(widget, AnswerTurn):
                widget.xray = self._xray
        await self._close_gap(widgets)
        with self.app.batch_update():
            await self._mount_last(widgets)
        if self._following:
            self.anchor()

    async def _close_gap(self, coming: Sequence[UserTurn | AnswerTurn]) -> None:
        """Where the middle of the chat is shown, the turns before those that are ``coming`` take its place."""
        if self._chat is None or self._mounted_to is None:
            return
        kept = [view.turn.message.id for view in coming if view.turn.message is not None]
        at = self._chat.position(kept[0]) if kept else None
        stop = len(self._chat) if at is None else at
        if self._mounted_to < stop:
            await self._show_page(stop - PAGE)
        self._mounted_to = None
        self.query_one(Later).count(0)

    def mark_sent_from(self, message_id: int | None) -> None:
        """A line above this message says that nothing before it was sent; None: everything was."""
        self._sent_from = message_id
        for view in self.views:
            view.mark_sent_from(message_id)

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

    @property
    def has_later(self) -> bool:
        """Whether there are turns below those that are mounted."""
        return self._mounted_to is not None

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
        """Mount a page of the chat's turns from position ``at`` on, behind those that are there. Reading goes on where
        it is."""
        assert self._chat is not None
        stop = min(len(self._chat), at + PAGE)
        if self._following and at + 1 < len(self._chat):
            self.let_go()
        before = len(self.views)
        await self._mount_last(self._widgets(at, stop))
        self._note_mounted_to(stop)
        self.call_after_refresh(self.resume_at_end)
        return self.views[before:]

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
