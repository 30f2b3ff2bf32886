"""The chat: what happens when a message is sent, while it is answered, and when the answer ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from app.tui.answering import Answer, Answering, EngineState, Phase
from app.tui.conversation import OpenChat, Turn
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
from app.tui.widgets.turns import UserTurn
from app.tui.widgets.welcome import Welcome
from engine.protocol import Failed, GenerateSettings

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from engine.protocol import LoadSettings

log = logging.getLogger(__name__)

JUMP: Final = "↓ end: back to the latest text"
JUMP_PAST_TEXT: Final = "↓ ctrl+end: back to the latest text"
ONE_AT_A_TIME: Final = "One answer at a time: your text waits here. esc stops the running answer."
ELSEWHERE: Final = "Your last chat is open in another Slipstream; this is a new one."
LOOK_AGAIN_SECONDS: Final = 2.0


class ChatScreen(Screen[None]):
    """See the module's text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012

    def __init__(
        self,
        engine: Engine,
        load: LoadSettings | None,
        defaults: GenerateSettings,
        system: str,
        store: ChatStore,
        no_model: str = "",
    ) -> None:
        super().__init__()
        self.store = store
        self.chat = OpenChat(store)
        self.defaults = defaults
        self.system_prompt = system
        self.mode = defaults.speculation
        self.answering = Answering(engine, load, changed=self._engine_changed, ended=self._ended, no_model=no_model)
        self._no_model = "" if load else no_model
        self._waiting: UserTurn | None = None
        """Sent while the answer before it was ending; goes out as soon as that is done."""
        self._live: LiveAnswer | None = None
        self._frames: Timer | None = None
        self._frame_due = False
        self._offered: tuple[bool, ...] = ()
        self._refused = ""
        """What was said last about a draft that was refused."""
        self._another_pair = False
        """Another one was asked for, whose draft may be refused for the same reason."""
        self._told: Failed | None = None
        self._fell_back: Failed | None = None
        self._leaving = False
        self.opened = False

    def compose(self) -> ComposeResult:
        yield Header()
        yield Welcome(markup=False)
        yield Transcript()
        yield Static(JUMP, id="jump", markup=False)
        with Vertical(id="foot"):
            yield SpeculationPicker()
            yield NoticeLine(markup=False)
            yield PromptRow()
        yield KeyBar()
        yield TooSmall(markup=False)

    async def on_mount(self) -> None:
        self._frames = self.set_interval(FRAME_SECONDS, self._next_frame, pause=True)
        self.query_one(Composer).focus()
        self.opened = True
        self._engine_changed()
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        if self.chat.elsewhere:
            self.add(ELSEWHERE, "warning")
        self._say_what_stands()
        self.run_worker(self.answering.work(), name="engine", group="engine", exit_on_error=False)
        await self._show_chat()

    @property
    def _target_path(self) -> str:
        """The file that answers, or will."""
        return self.answering.load.target.path if self.answering.load else ""

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self._engine_changed()

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice above the composer."""
        self.query_one(NoticeLine).say(text, severity)

    def add(self, text: str, severity: Severity = "warning") -> None:
        """A notice that leaves the warning before it in place."""
        self.query_one(NoticeLine).add(text, severity)

    def show_trouble(self) -> None:
        """The sign in the header, for as long as something is not saved."""
        self.query_one(Header).unsaved = self.store.trouble is not None

    def _say_what_stands(self) -> None:
        """What hinders answers is said again after notices were cleared."""
        state = self.answering.state
        if state.pair is None and self._live is None:
            if state.failure is not None and not self._no_model:
                self.add(state.failure.message, "error")
            elif self._no_model:
                self.add(self._no_model, "warning")

    # ---------------------------------------------------------------------------------------------------- sending

    @on(Composer.Sent)
    async def send(self) -> None:
        """Keep the message, show it, and ask for an answer."""
        composer = self.query_one(Composer)
        if not composer.text.strip():
            return
        if self._live is None:
            await self._send(composer.take())
        elif self._live.answer.running and not self._live.answer.stop_wanted:
            self.say(ONE_AT_A_TIME)
        else:
            await self._wait_with(composer.take())

    async def _wait_with(self, text: str) -> None:
        """The answer before is ending: show the message, and send it when that is done."""
        self._clear_hint()
        before, self._waiting = self._waiting, None
        if before is not None:
            text = f"{before.turn.text}\n\n{text}"
        self._waiting = UserTurn(Turn(None, waiting=text))
        if before is not None:
            await before.remove()
        await self.query_one(Transcript).append(self._waiting)
        self.query_one(Transcript).follow()

    async def _send(self, text: str) -> None:
        self.query_one(NoticeLine).clear()
        if self.chat.read_again():  # another Slipstream has been at it
            await self._show_chat()
        question = self.chat.say(text)
        answer = self.answering.submit(self._settings())
        live = self._live = LiveAnswer(answer, self.chat, question, self._speaker())
        self._show_header()
        self._show_empty()
        if self._no_model and self.answering.state.pair is None:
            self.add(self._no_model, "warning")
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
            self.show_trouble()
            if self._live.context_used is not None:
                self.query_one(Header).used = self._live.context_used

    def _keep(self, write: Callable[..., None], *what: Any) -> None:
        """Write to the store; whatever goes wrong there, the chat goes on and the user knows."""
        try:
            write(*what)
        except Exception as error:
            log.exception("not saved")
            self.say(f"not saved: {error}", "warning")
        self.show_trouble()

    def _ended(self, answer: Answer) -> None:
        """Called by the engine's worker. The store comes first, drawing after."""
        live = self._live
        if live is None or live.answer is not answer or self._leaving:
            return
        live.end(self._keep)
        self.call_next(self._close_answer, live)

    async def _close_answer(self, live: LiveAnswer) -> None:
        failure = live.answer.failure
        self._clear_hint()
        text = await live.close()
        waiting = self._take_waiting()
        if waiting is not None:
            await waiting.remove()
        if text is not None:
            if waiting is not None:
                self.query_one(Composer).give_back(waiting.turn.text)
                waiting = None
            self.query_one(Composer).give_back(text)
            self.say(failure.message if failure else "", "warning")
            self._show_empty()
        self._told = failure or self._told  # it was said, under the answer or above the composer
        self._live = None
        late = self._take_waiting()  # sent while the above was awaited
        if self._frames is not None:
            self._frames.pause()
        self._show_header()
        self._engine_changed()
        if late is not None:
            await late.remove()
        texts = [turn.turn.text for turn in (waiting, late) if turn is not None]
        if texts and not self._leaving:
            await self._send("\n\n".join(texts))

    def _take_waiting(self) -> UserTurn | None:
        waiting, self._waiting = self._waiting, None
        return waiting

    def _clear_hint(self) -> None:
        notice = self.query_one(NoticeLine)
        if notice.text == ONE_AT_A_TIME:
            notice.clear()

    def _engine_changed(self) -> None:
        """The engine's state or the answer's phase is another one."""
        if not self.opened or self._leaving:
            return
        state = self.answering.state
        header = self.query_one(Header)
        header.state = state
        header.title = self.chat.title
        header.target_path = self._target_path
        self.show_trouble()
        self._say_refused(state)
        self.query_one(NextAnswer).show(self.mode, state.pair, self.defaults.sampling.temperature)
        named = self._speaker() if self._target_path or state.pair else None
        self.query_one(Welcome).show(named, failed=state.failure is not None)
        if state.failure is not None and state.failure is not self._told and self._live is None:
            self._told = state.failure
            self.say(state.failure.message, "error")
        if state.instead_of is not None and state.instead_of is not self._fell_back:
            self._fell_back = state.instead_of
            self.add(state.instead_of.message, "error")
            self.add(f"{self._speaker()} answers as before.", "error")
        if self._live is not None:
            loading = header.loading_words() if state.is_loading else ""
            self._live.view.show_phase(self._live.answer, loading)
        offered = (bool(self.check_action("stop", ())), self._live is None, self.chat.empty)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def _say_refused(self, state: EngineState) -> None:
        """Once for a pair: its draft was refused."""
        if state.pair is None and self._another_pair:
            self._refused, self._another_pair = "", False
        reason = state.pair.draft_refused if state.pair else None
        if reason and reason != self._refused:
            self._refused = reason
            instead = "; lookup is used" if self.mode in ("draft", "auto") else ""
            self.add(f"draft refused: {reason}{instead}", "warning")

    # ------------------------------------------------------------------------------------------------ transcript

    async def _show_chat(self) -> None:
        await self.query_one(Transcript).open(self.chat, self._speaker())
        self._show_header()
        self._show_empty()
        if self._live is None and self.chat.written_elsewhere:
            self.set_timer(LOOK_AGAIN_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self.call_next(self._refresh_chat)

    async def _refresh_chat(self) -> None:
        """Another instance was writing here: show what has become of it."""
        if self._live is None and not self._leaving:
            if self.chat.read_again():
                await self._show_chat()
            elif self.chat.written_elsewhere:
                self.set_timer(LOOK_AGAIN_SECONDS, self._look_again)

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

    @on(Composer.Changed)
    def _name_jump(self) -> None:
        """``end`` moves the caret while there is text."""
        self.query_one("#jump", Static).update(JUMP_PAST_TEXT if self.query_one(Composer).text else JUMP)

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
            if self.query_one(SpeculationPicker).display:
                return False  # esc closes it
            return self._live is not None and self._live.answer.running and not self._live.answer.stop_wanted
        if action == "new_chat":
            return self._live is None and not self.chat.empty
        return True

    def action_stop(self) -> None:
        self.answering.stop()

    async def action_new_chat(self) -> None:
        self.chat = OpenChat(self.store, fresh=True)
        self.query_one(NoticeLine).clear()
        self._say_what_stands()
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

    def use(self, load: LoadSettings, words: str, *, drafting: bool = False) -> None:
        """Answer with another pair from now on; the chat stays. ``drafting``: its draft was chosen on purpose."""
        self._no_model, self._another_pair = "", True
        self.query_one(NoticeLine).clear()
        if drafting and self.mode in ("off", "lookup"):
            self.mode = "auto"
        self.say(words)
        self.answering.switch(load)
        self._engine_changed()

    # --------------------------------------------------------------------------------------------------- leaving

    def leave(self) -> None:
        """The app ends now: keep what has arrived, whatever happens to the engine next."""
        live, self._leaving = self._live, True
        if live is not None and live.answer.running:
            answer = live.answer
            answer.finish_reason, answer.phase = "cancelled", Phase.ENDED
            live.chat.end(live.turn, answer)
        if self._waiting is not None:
            self.chat.say(self._waiting.turn.text)
