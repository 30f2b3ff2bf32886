"""Which chat is on screen: opening another one, a new one, and seeing what another instance writes into this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.chats.records import StoreError
from app.tui.screens.reading import ReadingScreen
from app.tui.writing import Writing, note_changed_files

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer

    from app.tui.answering import Answering
    from app.tui.conversation import OpenChat
    from app.tui.conversation_choice import Opening
    from app.tui.news import EngineNews
    from app.tui.overflowing import Overflowing

SHARED: Final = "This chat is open in another Slipstream, too: what is said there shows here with your next message."
LOOK_AGAIN_SECONDS: Final = 2.0


class OpeningScreen(ReadingScreen):
    """See the module's text."""

    writing: Writing
    """What goes on around the composer; there once the screen is."""
    overflowing: Overflowing
    news: EngineNews
    _looks_again: Timer | None = None

    @property
    def chat(self) -> OpenChat:
        """The conversation on screen."""
        return self.dialogue.chat

    @property
    def answering(self) -> Answering:
        return self.dialogue.answering

    def speaker(self) -> str:
        """Who answers, by name."""
        raise NotImplementedError

    def show_empty(self) -> None:
        """What there is in the place of a transcript, as long as nothing was said."""
        raise NotImplementedError

    def show_header(self) -> None:
        """The title, and how full the context is."""
        raise NotImplementedError

    def engine_changed(self) -> None:
        """What is shown of the engine, anew."""
        raise NotImplementedError

    async def open_conversation(
        self, conversation_id: int | None, words: str = "", *, message_id: int | None = None
    ) -> None:
        """Show another conversation, None: a new one. ``words``: what there is to say about it; ``message_id``: which
        message of it. Refused with a sentence while an answer is made, and when there is no such chat any more."""
        refusal = self.dialogue.why_stay()
        try:
            if not refusal and conversation_id is not None:
                self.dialogue.turn_to(conversation_id, message_id)
        except StoreError as error:
            refusal = str(error)
        if refusal:
            self.say(refusal, "warning")
            return
        if conversation_id is None:
            self.dialogue.begin_anew()
        self.notices.clear()
        self.news.tell_again(self.answering.state)
        if self.chat.elsewhere:
            self.add(SHARED, "warning")
        if words:
            self.add(words, "warning")
        await self.show_chat(message_id)
        self.engine_changed()

    def on_key(self, event: events.Key) -> None:
        """A key that the footer leaves out while an answer is made says why it does nothing."""
        asked = self._bindings.key_to_bindings.get(event.key, ())
        if any(binding.action == "new_chat" for binding in asked) and (refusal := self.dialogue.why_stay()):
            self.say(refusal, "warning")

    async def came_back(self, opening: Opening | None) -> None:
        """The Chats screen was left."""
        if opening is not None:
            await self.open_conversation(opening.conversation, opening.words, message_id=opening.message)
        else:
            self.chat.read_title()
            self.engine_changed()

    async def show_chat(self, found: int | None = None) -> None:
        await self.transcript.open(self.chat, self.speaker(), found=found)
        self.chat_shown()

    def chat_shown(self) -> None:
        self.overflowing.follow(self.chat)
        self.dialogue.editing.follow(self.chat)  # before the composer holds the text of another chat
        self.writing.follow(self.chat.conversation.id)
        self.run_worker(note_changed_files(self), group="changed files", exclusive=True, exit_on_error=False)
        self.show_header()
        self.show_empty()
        self.refresh_bindings()
        if self.dialogue.live is None and self.chat.written_elsewhere:
            self._look_later()

    def _look_later(self) -> None:
        if self._looks_again is None:
            self._looks_again = self.set_timer(LOOK_AGAIN_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._looks_again = None
        self.call_next(self._refresh_chat)

    async def _refresh_chat(self) -> None:
        """Another instance was writing here: show what has become of it."""
        if self.dialogue.left:
            return
        if self.dialogue.live is not None:
            self._look_later()  # when our own answer has ended
        elif self.chat.read_again():
            await self.show_chat()
        elif self.chat.written_elsewhere:
            self._look_later()
