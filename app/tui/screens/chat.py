"""The chat: what happens when a message is sent, while it is answered, and when the answer ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from app.tui.answering import Answer, Answering, Phase
from app.tui.conversation import OpenChat
from app.tui.keys import CHAT
from app.tui.live import FRAME_SECONDS, LiveAnswer
from app.tui.names import short_name, speaker_name
from app.tui.widgets.composer import Composer
from app.tui.widgets.header import Header
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.prompt_row import NextAnswer, PromptRow
from app.tui.widgets.speculation_picker import SpeculationPicker
from app.tui.widgets.too_small import TooSmall
from app.tui.widgets.transcript import Transcript
from app.tui.widgets.welcome import Welcome
from engine.protocol import Failed, GenerateSettings

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from engine.protocol import LoadSettings

log = logging.getLogger(__name__)


class ChatScreen(Screen[None]):
    """See the module's text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012

    def __init__(
        self, engine: Engine, load: LoadSettings | None, defaults: GenerateSettings, system: str, store: ChatStore
    ) -> None:
        super().__init__()
        self.store = store
        self.chat = OpenChat(store)
        self.defaults = defaults
        self.system_prompt = system
        self.mode = defaults.speculation
        self.answering = Answering(engine, load, changed=self._engine_changed, ended=self._ended)
        self._target_path = load.target.path if load else ""
        self._live: LiveAnswer | None = None
        self._frames: Timer | None = None
        self._frame_due = False
        self._offered: tuple[bool, ...] = ()
        self._told: Failed | None = None
        self._leaving = False
        self.opened = False

    def compose(self) -> ComposeResult:
        yield Header()
        yield Welcome(markup=False)
        yield Transcript()
        yield Static("↓ end: back to the latest text", id="jump", markup=False)
        with Vertical(id="foot"):
            yield SpeculationPicker()
            yield NoticeLine(markup=False)
            yield PromptRow()
        yield KeyBar()
        yield TooSmall(markup=False)

    async def on_mount(self) -> None:
        self.query_one(Header).target_path = self._target_path
        self._frames = self.set_interval(FRAME_SECONDS, self._next_frame, pause=True)
        self.query_one(Composer).focus()
        self.opened = True
        self._engine_changed()
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        self.run_worker(self.answering.work(), name="engine", group="engine", exit_on_error=False)
        await self._show_chat()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self._engine_changed()

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice above the composer."""
        self.query_one(NoticeLine).say(text, severity)

    # ---------------------------------------------------------------------------------------------------- sending

    @on(Composer.Sent)
    async def send(self) -> None:
        """Keep the message, show it, and ask for an answer."""
        composer, notice = self.query_one(Composer), self.query_one(NoticeLine)
        if not composer.text.strip():
            return
        if self._live is not None:
            self.say("One answer at a time: your text waits here. esc stops the running answer.")
            return
        notice.clear()
        text = composer.take()
        question = self.chat.say(text)
        answer = self.answering.submit(self._settings())
        live = self._live = LiveAnswer(answer, self.chat, question, self._speaker())
        self._show_header()
        self._show_empty()
        await self.query_one(Transcript).append(live.asked, live.view)
        self.query_one(Transcript).follow()
        if self._frames is not None:
            self._frames.resume()
        self._engine_changed()

    def _settings(self) -> GenerateSettings:
        messages = self.chat.prompt(self.system_prompt)
        return self.defaults.model_copy(update={"messages": messages, "speculation": self.mode})

    def _speaker(self) -> str:
        pair = self.answering.state.pair
        return speaker_name(pair.target) if pair else short_name(self._target_path) if self._target_path else "answer"

    # ------------------------------------------------------------------------------------------- while it answers

    def _next_frame(self) -> None:
        """A timer has a task of its own; drawing belongs into the screen's, or it would meet the answer's end."""
        if not self._frame_due:
            self._frame_due = True
            self.call_next(self._frame)

    async def _frame(self) -> None:
        self._frame_due = False
        if self._live is not None:
            await self._live.draw(self._keep)
            if self._live.context_used is not None:
                self.query_one(Header).used = self._live.context_used

    def _keep(self, write: Callable[..., None], *what: Any) -> None:
        """Write to the store; whatever goes wrong there, the chat goes on and the user knows."""
        try:
            write(*what)
        except Exception as error:
            log.exception("not saved")
            self.say(f"not saved: {error}", "warning")

    def _ended(self, answer: Answer) -> None:
        """Called by the engine's worker. The store comes first, drawing after."""
        live = self._live
        if live is None or live.answer is not answer or self._leaving:
            return
        live.end(self._keep)
        self.call_next(self._close_answer, live)

    async def _close_answer(self, live: LiveAnswer) -> None:
        failure = live.answer.failure
        text = await live.close()
        if text is not None:
            self.query_one(Composer).give_back(text)
            self.say(failure.message if failure else "", "warning")
            self._show_empty()
        self._told = failure or self._told  # it was said, under the answer or above the composer
        self._live = None
        if self._frames is not None:
            self._frames.pause()
        self._show_header()
        self._engine_changed()

    def _engine_changed(self) -> None:
        """The engine's state or the answer's phase is another one."""
        if not self.opened or self._leaving:
            return
        state = self.answering.state
        header = self.query_one(Header)
        header.state = state
        header.title = self.chat.title
        self.query_one(NextAnswer).show(self.mode, state.pair, self.defaults.sampling.temperature)
        named = self._speaker() if self._target_path or state.pair else None
        self.query_one(Welcome).show(named, failed=state.failure is not None)
        if state.failure is not None and state.failure is not self._told and self._live is None:
            self._told = state.failure
            self.say(state.failure.message, "error")
        if self._live is not None:
            loading = header.loading_words() if state.is_loading else ""
            self._live.view.show_phase(self._live.answer, loading)
        offered = (self._live is not None and self._live.answer.stop_wanted, self._live is None, self.chat.empty)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    # ------------------------------------------------------------------------------------------------ transcript

    async def _show_chat(self) -> None:
        await self.query_one(Transcript).open(self.chat, self._speaker())
        self._show_header()
        self._show_empty()

    def _show_empty(self) -> None:
        self.query_one(Welcome).display = self.chat.empty
        self.query_one(Transcript).display = not self.chat.empty

    def _show_header(self) -> None:
        header = self.query_one(Header)
        header.title = self.chat.title
        header.used = self.chat.context_used()

    @on(Transcript.Following)
    def _following(self, event: Transcript.Following) -> None:
        self.set_class(not event.following, "-reading-back")

    @on(events.Click, "#jump")
    def _jump(self) -> None:
        self.query_one(Transcript).follow()

    @on(Composer.Scrolled)
    def _scroll(self, event: Composer.Scrolled) -> None:
        self.query_one(Transcript).go(event.where)

    # --------------------------------------------------------------------------------------------------- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        if action == "stop":
            return self._live is not None and not self._live.answer.stop_wanted
        if action == "new_chat":
            return self._live is None and not self.chat.empty
        return True

    def action_stop(self) -> None:
        self.answering.stop()

    async def action_new_chat(self) -> None:
        self.chat = OpenChat(self.store, fresh=True)
        self.query_one(NoticeLine).clear()
        await self._show_chat()
        self._engine_changed()

    def action_copy(self) -> None:
        """Copy what is selected; never quit."""
        composer = self.query_one(Composer)
        text = composer.selected_text or self.get_selected_text()
        if text:
            self.app.copy_to_clipboard(text)
            self.say(f"Sent {len(text):,} characters to the terminal's clipboard (OSC 52).")
        else:
            self.say("Nothing is selected to copy. ctrl+q quits, esc stops an answer.")

    def action_latest(self) -> None:
        self.query_one(Transcript).follow()

    def action_speculation(self) -> None:
        self.query_one(SpeculationPicker).open(self.mode, self.answering.state.pair)
        self.refresh_bindings()

    @on(SpeculationPicker.Chosen)
    def _chosen(self, event: SpeculationPicker.Chosen) -> None:
        self.mode = event.mode
        if self._live is not None:
            self.say(f"Speculation: {event.mode}, from the next answer on.")
        self._picked()

    @on(SpeculationPicker.Closed)
    def _picked(self) -> None:
        self.query_one(SpeculationPicker).close()
        self.query_one(Composer).focus()
        self._engine_changed()

    # --------------------------------------------------------------------------------------------------- leaving

    def leave(self) -> None:
        """The app ends now: keep what has arrived, whatever happens to the engine next."""
        live, self._leaving = self._live, True
        if live is not None and live.answer.running:
            answer = live.answer
            answer.finish_reason, answer.phase = "cancelled", Phase.ENDED
            live.chat.end(live.turn, answer)
