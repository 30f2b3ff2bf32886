"""What the chat in lines says by itself: who answers, how far a load is, where an opened chat stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.clean import clean_line
from app.percent import share as share_of
from app.plain.turns import about
from app.tui.names import full_name, pair_name, short_name, speaker_name

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.plain.dialogue import Dialogue
    from app.plain.lines import Lines
    from app.tui.answering import Answering
    from app.tui.conversation import OpenChat
    from app.tui.news import EngineNews
    from app.tui.surface import Severity
    from engine.protocol import PairInfo, SpeculationMode

SHARED: Final = "This chat is open in another Slipstream, too."


class Telling:
    """The part of :class:`app.plain.chat.PlainChat` that says where things stand."""

    store: ChatStore
    lines: Lines
    dialogue: Dialogue
    interactive: bool
    prefilled: str
    _news: EngineNews
    _open: bool
    _told: tuple[str, str]

    @property
    def chat(self) -> OpenChat:
        """The open one."""
        return self.dialogue.chat

    @property
    def answering(self) -> Answering:
        return self.dialogue.answering

    @property
    def mode(self) -> SpeculationMode:
        raise NotImplementedError

    @property
    def target_path(self) -> str:
        return self.answering.load.target.path if self.answering.load else ""

    def say(self, text: str, severity: Severity = "information") -> None:
        """A sentence beside the answers."""
        raise NotImplementedError

    def in_sight(self, words: str) -> bool:
        """No answer from before stands in the lines of this run."""
        return False

    def speaker(self) -> str:
        pair = self.answering.state.pair
        return speaker_name(pair.target) if pair else short_name(self.target_path) if self.target_path else "answer"

    def introduction(self) -> str:
        return f"{self.speaker()}> " if self.interactive else ""

    def loading_words(self) -> str:
        state = self.answering.state
        if not state.is_loading:
            return ""
        share = f", {share_of(state.loading.fraction)} so far" if state.loading else ""
        return f"Loading {full_name(self.target_path) if self.target_path else 'the model'}{share}."

    def say_no_model(self) -> None:
        self._news.tell_no_model(self.answering.state)

    def engine_changed(self) -> None:
        """Say what is new of the engine, each thing once."""
        if not self._open:
            return
        state = self.answering.state
        self._news.tell(state, self.mode, self.speaker(), answering=self.dialogue.live is not None)
        if state.pair is not None:
            self._tell_pair(state.pair)

    def _tell_pair(self, pair: PairInfo) -> None:
        name, badge = pair_name(pair, draft_whole=True), clean_line(pair.badge, 80)
        before, self._told = self._told, (name, badge)
        if name != before[0]:
            self.say(f"{name} answers; mode: {badge}; context: {pair.context:,} tokens.")
        elif badge != before[1]:
            self.say(f"The mode is {badge} now.")

    def introduce(self) -> None:
        """Which chat this is, and where it stands."""
        if not self.interactive:
            return
        chat = self.chat
        self.prefilled = self.store.unsent(chat.conversation.id).text
        if chat.empty:
            return
        number = len(chat)
        self.lines.say(
            f'The chat "{clean_line(chat.title, 80)}", {number} message{"s" * (number != 1)}. /show prints the last of '
            "them, /new begins another chat, /chats lists all."
        )
        if chat.elsewhere:
            self.say(SHARED, "warning")
        last = chat.turns(number - 1, number)
        if last and last[0].message is not None and last[0].message.role == "user":
            self.say("Your last message has no answer yet: /regenerate asks for one.", "warning")
        elif last and last[0].state in ("interrupted", "failed"):
            self.say(f"{about(last[0])[0]} /continue goes on with it, /regenerate makes another one.", "warning")
