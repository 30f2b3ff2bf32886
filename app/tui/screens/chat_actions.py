"""What the Chats screen does with a chat: rename, pin, delete, bring back, export."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from app.chats.records import Conversation, StoreError
from app.clean import clean_line
from app.tui.background import aside, beside
from app.tui.conversation_choice import Opening
from app.tui.exporting import Form, export
from app.tui.keymap import key_of
from app.tui.widgets.chat_list import ChatList
from app.tui.widgets.export_picker import ExportPicker
from app.tui.widgets.name_box import NameBox
from app.tui.widgets.notice import NoticeLine, Severity

if TYPE_CHECKING:
    from app.chats.store import ChatStore

log = logging.getLogger(__name__)


class ChatActions(Screen[Opening | None]):
    """The half of the screen that changes something. The other half is :class:`app.tui.screens.chats.ChatsScreen`."""

    store: ChatStore
    here: int
    """The chat that is open behind this screen."""
    system: str
    """The system prompt of answers that name none."""
    why_stay: Callable[[], str]
    """Why another chat cannot be opened now; nothing when one can."""

    @property
    def chat(self) -> Conversation | None:
        """The highlighted one."""
        return self.query_one(ChatList).chat

    def look_again(self, words: str = "", *, to: int | None = None) -> None:
        """Read the list anew; ``words`` are said when it shows what they speak of; ``to``: the chat to highlight."""
        raise NotImplementedError

    def offer_keys(self) -> None:
        """Other keys may do something now."""
        raise NotImplementedError

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice below the list; one that stands there already gives way."""
        notices = self.query_one(NoticeLine)
        notices.clear()
        notices.say(text, severity)
        if self.store.trouble is not None and severity == "information":
            notices.say(f"{text}\n{self.store.trouble}", "warning")

    # ------------------------------------------------------------------------------------------------- renaming

    def action_rename(self) -> None:
        chats = self.query_one(ChatList)
        chats.scroll_to_row()
        at = chats.row_region()
        if (chat := self.chat) is not None and at is not None:
            self.query_one(NameBox).open(chat.id, chat.title, at)
            self.offer_keys()

    @on(NameBox.Named)
    def _named(self, event: NameBox.Named) -> None:
        self._close_name_box()
        try:
            self.store.rename(event.conversation, event.title)
        except StoreError as error:
            self.say(str(error), "warning")
        self.look_again()

    @on(NameBox.Left)
    def _close_name_box(self) -> None:
        box = self.query_one(NameBox)
        had_focus = box.has_focus
        box.close()
        if had_focus:
            self.query_one(ChatList).focus()
        self.offer_keys()

    # -------------------------------------------------------------------------------------------------- pinning

    def action_pin(self) -> None:
        self._pin(True)

    def action_unpin(self) -> None:
        self._pin(False)

    def _pin(self, pinned: bool) -> None:
        if (chat := self.chat) is not None:
            try:
                self.store.pin(chat.id, pinned)
            except StoreError as error:
                self.say(str(error), "warning")
            self.look_again()

    # ------------------------------------------------------------------------------------------------- deleting

    def action_delete(self) -> None:
        """At once, since it can be undone."""
        if (chat := self.chat) is None:
            return
        title = clean_line(chat.title, 60)
        if chat.id == self.here and (refusal := self.why_stay()):
            self.say(refusal, "warning")
        elif self.store.open_elsewhere(chat.id):
            words = "is open in another Slipstream, which would bring it back. Close it there first."
            self.say(f"{title} {words}", "warning")
        else:
            try:
                self.store.delete(chat.id)
            except StoreError as error:
                self.say(str(error), "warning")
                self.look_again()
            else:
                self.look_again(
                    f"Deleted {title}. {key_of('chats.undo')} brings it back; in 30 days it is gone for good."
                )

    def action_undo(self) -> None:
        """Bring back what was deleted last, also at an earlier time."""
        chat = self.store.last_deleted()
        if chat is None:
            return
        try:
            self.store.restore(chat.id)
        except StoreError as error:
            self.say(str(error), "warning")
            self.look_again()
        else:
            self.look_again(f"{clean_line(chat.title, 60)} is back, as it was.", to=chat.id)

    # ------------------------------------------------------------------------------------------------ exporting

    def action_export(self) -> None:
        if (chat := self.chat) is not None:
            self.query_one(ExportPicker).open(chat.title)
            self.offer_keys()

    @on(ExportPicker.Closed)
    def _close_picker(self) -> None:
        self.query_one(ExportPicker).close()
        self.query_one(ChatList).focus()
        self.offer_keys()

    @on(ExportPicker.Chosen)
    def _chosen(self, event: ExportPicker.Chosen) -> None:
        self._close_picker()
        if (chat := self.chat) is not None:
            self.begin("export", self._export, chat, event.form)

    async def _export(self, chat: Conversation, form: Form) -> None:
        file = await aside(export, self.store, chat, form, self.system)
        self.say(f"Exported to {file}")

    # --------------------------------------------------------------------------------------------------- helpers

    def begin(self, group: str, work: Callable[..., Awaitable[None]], *what: object) -> None:
        """Do ``work`` beside the screen; the last one of its group counts."""
        beside(self, group, self._safely, work, *what)

    async def _safely(self, work: Callable[..., Awaitable[None]], *what: object) -> None:
        from app.chats.export_file import ExportError

        try:
            await work(*what)
        except (StoreError, ExportError) as error:
            self.say(str(error), "error")
        except Exception as error:
            log.exception("the list of chats failed")
            self.say(f"Something went wrong inside Slipstream ({type(error).__name__}); nothing was lost.", "error")
