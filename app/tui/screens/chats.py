"""The Chats screen: every chat there is, what was said in it, and which one to go on with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from app.chats.matching import words_of
from app.clean import clean_line
from app.tui import dates
from app.tui.background import aside
from app.tui.chat_glance import glance
from app.tui.chat_listing import ChatListing
from app.tui.conversation_choice import Opening
from app.tui.keymap import with_keys
from app.tui.keys import CHATS
from app.tui.screens.chat_actions import ChatActions
from app.tui.widgets.chat_list import ChatList
from app.tui.widgets.chat_preview import ChatPreview
from app.tui.widgets.chats_header import ChatsHeader
from app.tui.widgets.export_picker import ExportPicker
from app.tui.widgets.filter_box import FilterRow
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.name_box import NameBox
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.search_box import SearchBox
from app.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.app import SlipstreamApp
    from app.tui.on_its_way import OnItsWay

SETTLE_SECONDS: Final = 0.06
"""How long the highlight, or the typing, rests before anything is looked up."""
SCREEN_STYLES: Final = "chat_list chat_preview chats_header export_picker filter_box name_box"

DELETED: Final = (
    "The chat that was open is deleted, this is a new one. {chat.chats} and then {chats.undo} brings it back."
)


class ChatsScreen(ChatActions):
    """A list by date or the results of a search, and a look at the highlighted chat beside it."""

    CSS_PATH: ClassVar = ["chats.tcss", *(f"../widgets/{name}.tcss" for name in SCREEN_STYLES.split())]
    BINDINGS: ClassVar[list[BindingType]] = [*CHATS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012

    def __init__(self, store: ChatStore, here: int, *, system: str, why_stay: Callable[[], str]) -> None:
        """``here``: the chat that is open; ``why_stay``: why another one cannot be opened now."""
        super().__init__()
        self.store = store
        self.here = here
        self.system = system
        self.why_stay = why_stay
        self._listing = ChatListing(store)
        self._offered: tuple[bool | None, ...] = ()

    def compose(self) -> ComposeResult:
        yield ChatsHeader()
        with Horizontal(id="chats"):
            with Vertical(id="chats-side"):
                yield ChatList()
                yield NameBox()
            yield ChatPreview()
        yield FilterRow(SearchBox())
        yield NoticeLine()
        yield ExportPicker()
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_mount(self) -> None:
        self.query_one(ChatList).here = self.here
        self.query_one(ChatList).focus()
        self.begin("listing", self._first_read, self._keys_wait())
        self.begin("index", self._listing.index)
        if self.store.trouble is not None:
            self.say(self.store.trouble, "warning")

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self.call_after_refresh(self._highlighted)  # the preview may have appeared

    # ------------------------------------------------------------------------------------------------ the list

    @property
    def query_text(self) -> str:
        """What is searched for."""
        return self.query_one(SearchBox).value.strip()

    def look_again(self, words: str = "", *, to: int | None = None) -> None:
        self.begin("listing", self._read, words, to)

    def _keys_wait(self) -> OnItsWay:
        """For the list: what is typed behind the key of this moment is meant for what that brings."""
        return cast("SlipstreamApp", self.app).in_order.hold()

    async def _first_read(self, held: OnItsWay) -> None:
        try:
            await self._read("", None, held)
        finally:
            held.decide()

    async def _read(self, words: str, to: int | None, held: OnItsWay | None = None) -> None:
        """Read the list, a page at a time, and the results of the search if there is one. ``held``: told of the first
        page."""
        await self._listing.read()
        if self.query_text:
            await self._listing.search(self.query_text)
        self._fill(to)
        if held is not None:
            held.decide()
        if words:
            self.say(words)
        while await self._listing.read_on():
            if not self.query_text:
                self._fill()

    def _fill(self, to: int | None = None, *, at_top: bool = False) -> None:
        now, query, listing = dates.now(), self.query_text, self._listing
        chats = self.query_one(ChatList)
        chats.elsewhere, chats.words = listing.elsewhere, words_of(query)
        chats.show(listing.rows(query, now), now, listing.nothing(query), keep=self.here, at_top=at_top)
        if to is not None:
            chats.go_to(to)
        self.query_one(ChatsHeader).words = listing.counted(query, chats.count)
        self.offer_keys()

    @on(ChatList.Highlighted)
    def _highlighted(self) -> None:
        self.offer_keys()
        self.begin("glance", self._look_up)

    async def _look_up(self) -> None:
        row = self.query_one(ChatList).row
        preview = self.query_one(ChatPreview)
        if row is None or row.chat is None:
            preview.show(None)
        elif preview.display:
            await asyncio.sleep(SETTLE_SECONDS)
            words = self.query_one(ChatList).words
            preview.show(await aside(glance, self.store, row.chat, row.message, words), words)

    # ------------------------------------------------------------------------------------------------- searching

    def action_search(self) -> None:
        self.query_one(FilterRow).open()
        self.offer_keys()

    def on_key(self, event: events.Key) -> None:
        """A letter that is no command begins a search."""
        character = (event.character or "").strip() if event.is_printable else ""
        if character and self._may_search_at_once() and event.key not in self._bindings.key_to_bindings:
            event.stop()
            self._search_for(character)

    def on_paste(self, event: events.Paste) -> None:
        if self._may_search_at_once():
            event.stop()
            self._search_for(clean_line(event.text))

    def _may_search_at_once(self) -> bool:
        return bool(self.check_action("search", ())) and self.focused is self.query_one(ChatList)

    def _search_for(self, text: str) -> None:
        self.action_search()
        self.query_one(SearchBox).insert_text_at_cursor(text)

    @on(SearchBox.Changed)
    def _typed(self, event: SearchBox.Changed) -> None:
        if event.input is self.query_one(SearchBox):
            self.begin("search", self._search)

    async def _search(self) -> None:
        query = self.query_text
        if query:
            await asyncio.sleep(SETTLE_SECONDS)
            await self._listing.search(query)
        self._fill(at_top=bool(query))

    @on(SearchBox.Opened)
    def _opened(self) -> None:
        self.begin("search", self._open_found, self._keys_wait())

    async def _open_found(self, held: OnItsWay) -> None:
        """Enter may come before the results of the last letters."""
        try:
            if self.query_text:
                await self._listing.search(self.query_text)
                self._fill(at_top=True)
            if self.is_current:
                self.action_open()
        finally:
            held.decide()

    @on(SearchBox.Left)
    def _searched(self) -> None:
        self.query_one(FilterRow).display = bool(self.query_text)
        self.query_one(ChatList).focus()
        self.offer_keys()

    # -------------------------------------------------------------------------------------------------- the keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        if action in ("close", "leave"):
            return True
        if not self.is_mounted or self.query_one(SearchBox).has_focus:
            return False
        if self.query_one(NameBox).display or self.query_one(ExportPicker).display:
            return False
        if action in ("search", "new"):
            return True
        if action == "undo":
            return self._listing.deleted is not None
        chat = self.chat
        if action in ("pin", "unpin"):
            return chat is not None and chat.pinned == (action == "unpin")
        return chat is not None if action in ("open", "rename", "delete", "export") else True

    def offer_keys(self) -> None:
        named = "open search new rename pin unpin delete undo export".split()
        offered = tuple(self.check_action(name, ()) for name in named)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    @on(ChatList.Acted)
    def action_open(self) -> None:
        row = self.query_one(ChatList).row
        if row is None or row.chat is None:
            return
        refusal = self.why_stay()
        if row.chat.id == self.here and (row.message is None or refusal):
            self.dismiss(None)
        elif refusal:
            self.say(refusal, "warning")
        else:
            self.dismiss(Opening(row.chat.id, row.message))

    def action_new(self) -> None:
        if refusal := self.why_stay():
            self.say(refusal, "warning")
        else:
            self.dismiss(Opening(None))

    def action_close(self) -> None:
        """One thing at a time: the search first."""
        box = self.query_one(SearchBox)
        if box.value:
            box.value = ""
            self.query_one(FilterRow).display = False
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Where the chat behind this screen was deleted, a new one takes its place."""
        gone = self.store.conversation(self.here) is None
        self.dismiss(Opening(None, words=with_keys(DELETED)) if gone else None)
