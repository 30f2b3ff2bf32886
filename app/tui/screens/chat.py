"""The chat on screen: what is shown where, and what each key does. What is said and answered is the dialogue's."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Static

from app.chats.records import StoreError
from app.tui import commands, motion
from app.tui.chat_settings import differing, merged, system_prompt
from app.tui.dialogue import Dialogue
from app.tui.keymap import key_of
from app.tui.keys import CHAT
from app.tui.live import FRAME_SECONDS
from app.tui.names import short_name, speaker_name
from app.tui.news import EngineNews
from app.tui.overflow_policy import for_engine
from app.tui.overflowing import Overflowing, Refusal
from app.tui.screens.turns import NO_RECEIPT, TurnScreen
from app.tui.widgets.attached_row import AttachedRow
from app.tui.widgets.completions import Completions
from app.tui.widgets.composer import Composer
from app.tui.widgets.editing_row import EditingRow
from app.tui.widgets.header import Header
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.legend import Legend
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.overflow_picker import OverflowPicker
from app.tui.widgets.prompt_row import NextAnswer, PromptRow
from app.tui.widgets.speculation_picker import SpeculationPicker
from app.tui.widgets.too_small import TooSmall
from app.tui.widgets.transcript import Transcript
from app.tui.widgets.turns import AnswerTurn
from app.tui.widgets.welcome import Welcome
from app.tui.writing import Writing, note_changed_files

if TYPE_CHECKING:
    from app.chats.records import Attachment, Unsent
    from app.chats.store import ChatStore
    from app.compare.conduct import Comparison
    from app.compare.ways import Way
    from app.tui.answering import Answering
    from app.tui.app import SlipstreamApp
    from app.tui.conversation import OpenChat
    from app.tui.conversation_choice import Opening
    from app.tui.ports import Engine
    from engine.protocol import Failed, GenerateSettings, LoadSettings, SpeculationMode

JUMP: Final = "↓ end: back to the latest text"
ELSEWHERE: Final = "Your last chat is open in another Slipstream; this is a new one."
SHARED: Final = "This chat is open in another Slipstream, too: what is said there shows here with your next message."
NO_THOUGHTS: Final = "No answer on screen has thoughts to unfold."
LOOK_AGAIN_SECONDS: Final = 2.0
COMPARED_TOKENS: Final = 256
"""Of an answer without a limit, so much is compared."""


class ChatScreen(TurnScreen):
    """See the module's text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012
    in_lines = False

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
        self.defaults = defaults
        self.system_prompt = system
        self.opened = False
        self.dialogue = Dialogue(self, store, engine, load, no_model)
        self.overflowing = Overflowing(self)
        self._news = EngineNews(self, "" if load else no_model)
        self.writing: Writing
        """What goes on around the composer; there once the screen is."""
        self._frames: Timer | None = None
        self._frame_due = False
        self._offered: tuple[bool, ...] = ()

    def compose(self) -> ComposeResult:
        yield Header()
        yield Welcome(markup=False)
        yield Transcript()
        yield Static(JUMP, id="jump", markup=False)
        with Vertical(id="foot"):
            yield SpeculationPicker()
            yield OverflowPicker()
            yield Legend()
            yield NoticeLine(markup=False)
            yield EditingRow()
            yield AttachedRow()
            yield Completions()
            yield PromptRow()
        yield KeyBar()
        yield TooSmall(markup=False)

    async def on_mount(self) -> None:
        self.writing = Writing(self)
        self._frames = self.set_interval(motion.every(self.app, FRAME_SECONDS), self._next_frame, pause=True)
        self.composer.focus()
        self.opened = True
        self.engine_changed()
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        if self.chat.elsewhere:
            self.add(ELSEWHERE, "warning")
        self._news.tell_again(self.answering.state)
        self.run_worker(self.answering.work(), name="engine", group="engine", exit_on_error=False)
        await self.show_chat()

    @property
    def chat(self) -> OpenChat:
        """The conversation on screen."""
        return self.dialogue.chat

    @property
    def answering(self) -> Answering:
        """The engine's side."""
        return self.dialogue.answering

    @property
    def slipstream(self) -> SlipstreamApp:
        """The app."""
        return cast("SlipstreamApp", self.app)

    @property
    def mode(self) -> SpeculationMode:
        """Who may propose tokens for the next answer of this chat."""
        return self.settings_now().speculation

    @property
    def target_path(self) -> str:
        """The file that answers, or will."""
        return self.answering.load.target.path if self.answering.load else ""

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self.engine_changed()

    def add(self, text: str, severity: Severity = "warning") -> None:
        """A notice that leaves the warning before it in place."""
        self.notices.add(text, severity)

    def reply(self, text: str, severity: Severity = "information") -> None:
        """What a command has to say."""
        self.notices.reply(text, severity)

    def show_trouble(self) -> None:
        """The sign in the header, for as long as something is not saved."""
        self.query_one(Header).unsaved = self.store.trouble is not None

    def say_no_model(self) -> None:
        """There is nothing to answer with."""
        self._news.tell_no_model(self.answering.state)

    def was_told(self, failure: Failed) -> None:
        """The user knows of this failure already."""
        self._news.was_told(failure)

    def outgrown(self, refusal: Refusal) -> None:
        """The conversation does not fit the context."""
        self.overflowing.refused(refusal)

    @on(OverflowPicker.Answered)
    async def _answered(self, event: OverflowPicker.Answered) -> None:
        await self.overflowing.answer(event.way)

    # ----------------------------------------------------------------------------------------------- the dialogue

    @on(Composer.Sent)
    async def send(self) -> None:
        """What was typed is done, if it is a command, or goes out."""
        typed = commands.parse(self.composer.text)
        if typed is not None:
            await self.writing.run(typed)
        else:
            await self.dialogue.send()

    async def take_message(self) -> tuple[str, tuple[Attachment, ...]] | None:
        """The message in the composer and what is attached to it; None: it cannot go out, and the user knows why."""
        return await self.writing.take_message()

    def keep_unsent(self) -> None:
        """What stands in the composer must not get lost."""
        self.writing.keep()

    def take_unsent(self) -> Unsent:
        """What stands in the composer, taken out of it."""
        return self.writing.take_unsent()

    def put_unsent(self, unsent: Unsent) -> None:
        """Put it back, in the place of what stands there."""
        self.writing.put_unsent(unsent)

    async def count_tokens(self, text: str) -> int | None:
        """How many tokens a text takes; None while the engine cannot say."""
        return await self.answering.count(text)

    # ----------------------------------------------------------------------------------------- this chat's settings

    def settings_now(self) -> GenerateSettings:
        """How answers of this chat are made: the defaults, and what the chat does otherwise."""
        settings = merged(self.defaults, self.chat.conversation.settings)
        return settings.model_copy(update={"overflow": for_engine(self.overflowing.policy)})

    def settings(self) -> GenerateSettings:
        """How the next answer is to be made."""
        messages = self.chat.prompt(system_prompt(self.system_prompt, self.chat.conversation.settings))
        return self.settings_now().model_copy(update={"messages": messages})

    def keep_settings(self, own: Mapping[str, object]) -> None:
        """What this chat does otherwise than the defaults, from now on."""
        self.chat.save_settings(own)
        self.engine_changed()

    def choose_mode(self, mode: SpeculationMode) -> None:
        """Who may propose, from the next answer on."""
        before = self.mode
        self.keep_settings({**self.chat.conversation.settings, "speculation": mode})
        when = "from the next answer on" if self.dialogue.live is not None else "in this chat"
        self.reply(f"speculation {before} → {mode}, {when}.")

    def speaker(self) -> str:
        pair = self.answering.state.pair
        return speaker_name(pair.target) if pair else short_name(self.target_path) if self.target_path else "answer"

    def animate_answers(self, on: bool) -> None:
        """Draw an answer while it is made."""
        if self._frames is not None:
            if on:
                self._frames.resume()
            else:
                self._frames.pause()

    def _next_frame(self) -> None:
        """A timer has a task of its own; drawing belongs into the screen's, or it would meet the answer's end."""
        if not self._frame_due:
            self._frame_due = True
            self.call_next(self._frame)

    async def _frame(self) -> None:
        self._frame_due = False
        await self.dialogue.draw()
        live = self.dialogue.live
        if live is not None and live.context_used is not None:
            self.query_one(Header).used = live.context_used

    def engine_changed(self) -> None:
        """The engine's state or the answer's phase is another one."""
        if not self.opened or self.dialogue.left:
            return
        state, live = self.answering.state, self.dialogue.live
        header = self.query_one(Header)
        header.state = state
        header.title = self.chat.title
        header.target_path = self.target_path
        self.show_trouble()
        self._news.tell(state, self.mode, self.speaker(), answering=live is not None)
        settings = self.settings_now()
        others = [*self.overflowing.differing(), *differing(self.defaults, settings)]
        self.query_one(NextAnswer).show(settings.speculation, state.pair, settings.sampling.temperature, others)
        named = self.speaker() if self.target_path or state.pair else None
        self.query_one(Welcome).show(named, failed=state.failure is not None)
        if live is not None:
            live.view.show_phase(live.answer, header.loading_words() if state.is_loading else "")
        self.renew_selected()
        offered = (bool(self.check_action("stop", ())), live is None, self.chat.empty)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    # ------------------------------------------------------------------------------------------------ transcript

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
            self.set_timer(LOOK_AGAIN_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self.call_next(self._refresh_chat)

    async def _refresh_chat(self) -> None:
        """Another instance was writing here: show what has become of it."""
        if self.dialogue.live is None and not self.dialogue.left:
            if self.chat.read_again():
                await self.show_chat()
            elif self.chat.written_elsewhere:
                self.set_timer(LOOK_AGAIN_SECONDS, self._look_again)

    def show_empty(self) -> None:
        self.query_one(Welcome).display = self.chat.empty
        self.transcript.display = not self.chat.empty

    def show_header(self) -> None:
        header = self.query_one(Header)
        header.title = self.chat.title
        header.used = self.chat.context_used()

    @on(Transcript.Following)
    def _following(self, event: Transcript.Following) -> None:
        self.set_class(not event.following, "-reading-back")

    @on(Composer.Changed)
    def _typed(self) -> None:
        past_text = f"↓ {key_of('chat.latest')}: back to the latest text"
        self.query_one("#jump", Static).update(JUMP if self.composer.blank else past_text)
        self.writing.changed()

    @on(Composer.SelectionChanged)
    def _cursor_moved(self) -> None:
        self.writing.look()

    @on(Completions.Picked)
    def _picked_completion(self, event: Completions.Picked) -> None:
        self.writing.choose(event.index)

    @on(events.Click, "#jump")
    def _jump(self) -> None:
        self.transcript.follow()

    @on(Composer.Scrolled)
    def _scroll(self, event: Composer.Scrolled) -> None:
        self.transcript.go(event.where)

    # --------------------------------------------------------------------------------------------------- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        if action == "stop":
            if self._esc_is_taken or self.selected is not None:
                return False  # esc leads back from there
            return self.dialogue.stoppable
        if action == "new_chat":
            return self.dialogue.live is None and not self.chat.empty
        if action == "leave_edit" and self._esc_is_taken:
            return False
        if action == "select" and self._picker_is_open:
            return False
        return super().check_action(action, parameters)

    @property
    def _picker_is_open(self) -> bool:
        return self.overflowing.asking or self.query_one(SpeculationPicker).display

    @property
    def _esc_is_taken(self) -> bool:
        """Whether it closes a list above the composer."""
        return self._picker_is_open or self.query_one(Completions).display

    def action_stop(self) -> None:
        self.answering.stop()

    async def action_new_chat(self) -> None:
        await self.open_conversation(None)

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
        self._news.tell_again(self.answering.state)
        if self.chat.elsewhere:
            self.add(SHARED, "warning")
        if words:
            self.add(words, "warning")
        await self.show_chat(message_id)
        self.engine_changed()

    async def came_back(self, opening: Opening | None) -> None:
        """The Chats screen was left."""
        if opening is not None:
            await self.open_conversation(opening.conversation, opening.words, message_id=opening.message)
        else:
            self.chat.read_title()
            self.engine_changed()

    def action_context(self) -> None:
        """How full the context is, and what can be done about it."""
        self.overflowing.show()

    def action_copy(self) -> None:
        """Copy what is selected; never quit."""
        text = self.composer.selected_text or self.get_selected_text()
        if text:
            self.copy_text(text)
        elif self.selected is not None:
            self.action_turn("copy")
        else:
            self.say(f"Nothing is selected to copy. {key_of('app.quit')} quits, {key_of('chat.stop')} stops an answer.")

    def action_latest(self) -> None:
        self.transcript.follow()

    def action_xray(self) -> None:
        """Tint the tokens of all answers by who proposed them, or no longer."""
        legend = self.query_one(Legend)
        legend.display = not legend.display
        self.transcript.show_xray(legend.display)

    def action_receipt(self, view: AnswerTurn | None = None) -> None:
        """Every figure of an answer, and what each means; without ``view`` of the selected or the last one."""
        target = view or self.target("receipt")
        view = target if isinstance(target, AnswerTurn) else None
        if view is None or view.receipt.stats is None:
            self.say(NO_RECEIPT)
            return
        from app.tui.screens.receipt import ReceiptScreen  # with its own style sheet: not before it is wanted

        self.app.push_screen(ReceiptScreen(view.receipt.stats, view.proof, view.turn.figures, view.turn.text))

    @on(AnswerTurn.ReceiptWanted)
    def _receipt_wanted(self, event: AnswerTurn.ReceiptWanted) -> None:
        self.action_receipt(event.view)

    def action_thoughts(self, view: AnswerTurn | None = None) -> None:
        """Unfold what was thought before an answer, or fold it; without ``view`` of the selected one, or else of the
        last one that has thoughts."""
        if view is None and isinstance(self.selected, AnswerTurn):
            view = self.selected
        elif view is None:
            view = next((view for view in reversed(self.transcript.answers()) if view.body.thoughts), None)
        if view is None or not view.toggle_thoughts():
            self.say(NO_THOUGHTS)

    def action_speculation(self) -> None:
        self.query_one(SpeculationPicker).open(self.mode, self.answering.state.pair)
        self.refresh_bindings()

    @on(SpeculationPicker.Chosen)
    def _chosen(self, event: SpeculationPicker.Chosen) -> None:
        if event.mode != self.mode:
            self.choose_mode(event.mode)
        self._picked()

    @on(SpeculationPicker.Closed)
    def _picked(self) -> None:
        self.query_one(SpeculationPicker).close()
        self.composer.focus()
        self.engine_changed()

    def use(self, load: LoadSettings, words: str, *, drafting: bool = False) -> None:
        """Answer with another pair from now on; the chat stays. ``drafting``: its draft was chosen on purpose."""
        self._news.pair_wanted()
        self.notices.clear()
        if drafting and self.mode in ("off", "lookup"):
            self.keep_settings({**self.chat.conversation.settings, "speculation": "auto"})
        self.say(words)
        self.answering.switch(load)
        self.engine_changed()

    # ------------------------------------------------------------------------------------------------- comparing

    @property
    def may_compare(self) -> bool:
        """Whether there is a request to compare with, and an engine that does nothing else."""
        state = self.answering.state
        return self.dialogue.live is None and state.pair is not None and bool(self.chat.last_question())

    def comparison(self) -> tuple[Comparison, str, int] | None:
        """The last request, plainly and as the next answer would be made; its words; the context. None: nothing."""
        question, load, pair = self.chat.last_question(), self.answering.load, self.answering.state.pair
        if not self.may_compare or load is None or pair is None:
            return None
        from app.compare.conduct import Comparison  # not before it is wanted
        from app.compare.ways import Way

        mode = "auto" if self.mode == "off" else self.mode
        settings = self.settings()
        changes = {
            "messages": self.chat.prompt(
                system_prompt(self.system_prompt, self.chat.conversation.settings), question=True
            ),
            "seed": settings.seed if settings.seed is not None else secrets.randbelow(2**31),
            "max_tokens": settings.max_tokens or COMPARED_TOKENS,
        }
        wanted = settings.model_copy(update=changes)
        return Comparison((Way("off"), Way(mode, settings.draft_max)), wanted, load), question, pair.context

    def keep_way(self, way: Way | None, *, loaded_others: bool = False) -> None:
        """What a comparison ended with: how the next answers are made. See :mod:`app.tui.kept_way`."""
        from app.tui.kept_way import keep_way

        keep_way(self, way, loaded_others=loaded_others)
        self.engine_changed()

    # --------------------------------------------------------------------------------------------------- leaving

    def leave(self) -> None:
        """The app ends now: keep what has arrived."""
        self.dialogue.leave()
        if self.opened:
            self.writing.keep()
