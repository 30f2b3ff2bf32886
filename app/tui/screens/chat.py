"""The chat: what happens when a message is sent, while it is answered, and when the answer ends."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from app.clean import clean_line
from app.tui.answering import Answer, Answering, Phase
from app.tui.conversation import OpenChat, Turn
from app.tui.keys import CHAT
from app.tui.names import short_name, speaker_name
from app.tui.widgets.composer import Composer
from app.tui.widgets.header import Header
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.prompt_row import NextAnswer, PromptRow
from app.tui.widgets.speculation_picker import SpeculationPicker, reasons_against
from app.tui.widgets.too_small import TooSmall
from app.tui.widgets.transcript import PAGE, Earlier, Transcript
from app.tui.widgets.turns import AnswerTurn, UserTurn
from app.tui.widgets.welcome import Welcome
from engine.protocol import ErrorCode, GenerateSettings

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from engine.protocol import LoadSettings

FRAME_SECONDS: Final = 1 / 12
FIGURES_SECONDS: Final = 0.2
CHECKPOINT_SECONDS: Final = 0.8


@dataclass(eq=False)
class _Live:
    """The answer being made, with everything that belongs to it."""

    answer: Answer
    question: Turn
    turn: Turn
    chat: OpenChat
    asked: UserTurn
    view: AnswerTurn
    figures_at: float = 0.0
    kept_at: float = 0.0


class ChatScreen(Screen[None]):
    """See the module's text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]

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
        self._live: _Live | None = None
        self._frames: Timer | None = None
        self._mounted_from = len(self.chat)
        self._leaving = False
        self._ready = False

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
        self._frames = self.set_interval(FRAME_SECONDS, self._frame, pause=True)
        self.query_one(Composer).focus()
        self._ready = True
        self._engine_changed()
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        self.run_worker(self.answering.work(), name="engine", group="engine", exit_on_error=False)
        await self._show_chat()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)

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
        turn = Turn(None)
        asked, view = UserTurn(question), AnswerTurn(turn, self._speaker())
        self._live = _Live(answer, question, turn, self.chat, asked, view, kept_at=time.monotonic())
        self._show_header()
        self.query_one(Welcome).display = False
        self.query_one(Transcript).display = True
        await self.query_one(Transcript).append(asked, view)
        self.query_one(Transcript).follow()
        if self._frames is not None:
            self._frames.resume()
        self._engine_changed()

    def _settings(self) -> GenerateSettings:
        mode = self.mode if reasons_against(self.answering.state.pair)[self.mode] is None else "auto"
        return self.defaults.model_copy(update={"messages": self.chat.prompt(self.system_prompt), "speculation": mode})

    def _speaker(self) -> str:
        pair = self.answering.state.pair
        return speaker_name(pair.target) if pair else short_name(self._target_path) if self._target_path else "answer"

    # ------------------------------------------------------------------------------------------- while it answers

    async def _frame(self) -> None:
        """One timer drains what arrived: text at 12 Hz, figures at 5 Hz, a checkpoint about every second."""
        live = self._live
        if live is None:
            return
        answer, now = live.answer, time.monotonic()
        if answer.read is not None or answer.text:
            live.chat.begin(live.turn)
        if answer.fresh:
            piece = "".join(answer.fresh)
            answer.fresh.clear()
            await live.view.feed(piece)
        if now - live.figures_at >= FIGURES_SECONDS:
            live.figures_at = now
            live.view.show_figures(answer)
            if answer.stats is not None:
                self.query_one(Header).used = answer.stats.prompt_tokens + answer.stats.output_tokens
        if now - live.kept_at >= CHECKPOINT_SECONDS:
            live.kept_at = now
            live.chat.checkpoint(live.turn, answer.text)

    def _ended(self, answer: Answer) -> None:
        """Called by the engine's worker. The store comes first, drawing after."""
        live = self._live
        if live is None or live.answer is not answer or self._leaving:
            return
        refused = answer.failure is not None and answer.failure.code is ErrorCode.PROMPT_TOO_LARGE
        if not (refused and live.turn.message is None):
            live.chat.end(live.turn, answer)
        self.call_next(self._close_answer, live)

    async def _close_answer(self, live: _Live) -> None:
        answer = live.answer
        failure = answer.failure
        if live.turn.message is None and failure is not None:
            self.query_one(Composer).give_back(live.chat.take_back(live.question))
            await live.view.remove()
            await live.asked.remove()
            self.say(failure.message, "warning")
            self._show_empty()
        else:
            answer.fresh.clear()
            await live.view.complete(answer)
        self._live = None
        if self._frames is not None:
            self._frames.pause()
        self._show_header()
        self._engine_changed()

    def _engine_changed(self) -> None:
        """The engine's state or the answer's phase is another one."""
        if not self._ready or self._leaving:
            return
        state = self.answering.state
        header = self.query_one(Header)
        header.state = state
        header.title = self.chat.title
        self.query_one(NextAnswer).show(self.mode, state.pair, self.defaults.sampling.temperature)
        self.query_one(Welcome).show(self._speaker() if self._target_path or state.pair else None)
        if state.failure is not None and self._live is None:
            self.say(state.failure.message, "error")
        if self._live is not None:
            loading = header.loading_words() if state.is_loading else ""
            self._live.view.show_phase(self._live.answer, loading)
        self.refresh_bindings()

    # ------------------------------------------------------------------------------------------------ transcript

    async def _show_chat(self) -> None:
        transcript = self.query_one(Transcript)
        self._mounted_from = max(0, len(self.chat) - PAGE)
        await transcript.replace(self._widgets(self._mounted_from, len(self.chat)), self._mounted_from)
        self._show_header()
        self._show_empty()

    def _show_empty(self) -> None:
        self.query_one(Welcome).display = self.chat.empty
        self.query_one(Transcript).display = not self.chat.empty

    def _show_header(self) -> None:
        header = self.query_one(Header)
        header.title = self.chat.title
        header.used = self.chat.context_used()

    def _widgets(self, start: int, stop: int) -> list[Widget]:
        speaker = self._speaker()
        return [
            AnswerTurn(turn, speaker) if turn.message and turn.message.role == "assistant" else UserTurn(turn)
            for turn in self.chat.turns(start, stop)
        ]

    @on(Earlier.Wanted)
    @work(group="earlier", exclusive=True, exit_on_error=False)
    async def show_earlier(self) -> None:
        """Mount the page above."""
        if self._mounted_from > 0:
            stop, self._mounted_from = self._mounted_from, max(0, self._mounted_from - PAGE)
            await self.query_one(Transcript).prepend(self._widgets(self._mounted_from, stop), self._mounted_from)

    @on(Transcript.Following)
    def _following(self, event: Transcript.Following) -> None:
        self.set_class(not event.following, "-reading-back")

    @on(events.Click, "#jump")
    def _jump(self) -> None:
        self.query_one(Transcript).follow()

    @on(Composer.Scrolled)
    def _scroll(self, event: Composer.Scrolled) -> None:
        transcript = self.query_one(Transcript)
        match event.where:
            case "end":
                transcript.follow()
            case "home":
                transcript.scroll_home(animate=False)
            case "page_up":
                transcript.scroll_page_up(animate=False)
            case "page_down":
                transcript.scroll_page_down(animate=False)

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

    def describe_chat(self) -> dict[str, Any]:
        """For the log: what was on screen."""
        return {"title": clean_line(self.chat.title, 60), "turns": len(self.chat)}
