"""The chat on screen: what is shown where, and what each key does. What is said and answered is the dialogue's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from app.tui import commands
from app.tui.chat_settings import differing
from app.tui.collecting import Collecting
from app.tui.dialogue import Dialogue
from app.tui.frames import Frames
from app.tui.keymap import key_of
from app.tui.keys import CHAT
from app.tui.names import short_name, speaker_name
from app.tui.news import EngineNews
from app.tui.overflowing import Overflowing, Refusal
from app.tui.saving_again import SavingAgain
from app.tui.screens.making import MakingScreen
from app.tui.widgets.attached_row import AttachedRow
from app.tui.widgets.completions import Completions
from app.tui.widgets.composer import Composer
from app.tui.widgets.editing_row import EditingRow
from app.tui.widgets.header import Header
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.legend import Legend
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.overflow_picker import OverflowPicker
from app.tui.widgets.prompt_row import NextAnswer, PromptRow
from app.tui.widgets.speculation_picker import SpeculationPicker
from app.tui.widgets.too_small import TooSmall
from app.tui.widgets.transcript import Transcript
from app.tui.widgets.welcome import Welcome
from app.tui.writing import Writing

if TYPE_CHECKING:
    from app.chats.records import Attachment, Unsent
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from engine.protocol import Failed, GenerateSettings, LoadSettings

JUMP: Final = "↓ end: back to the latest text"
ELSEWHERE: Final = "Your last chat is open in another Slipstream; this is a new one."


class ChatScreen(MakingScreen):
    """See the module's text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012

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
        self.news = EngineNews(self, "" if load else no_model, load.draft_refused if load else None)
        self.frames = Frames(self)
        self.collecting = Collecting(self, lambda: self.typed_at)
        self._saving_again = SavingAgain(self)
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
            yield NoticeLine()
            yield EditingRow()
            yield AttachedRow()
            yield Completions()
            yield PromptRow()
        yield KeyBar()
        yield TooSmall(markup=False)

    async def on_mount(self) -> None:
        self.writing = Writing(self)
        self.frames.begin()
        self.composer.focus()
        self.opened = True
        self.engine_changed()
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        if self.chat.elsewhere:
            self.add(ELSEWHERE, "warning")
        self.news.tell_again(self.answering.state)
        self.run_worker(self.answering.work(), name="engine", group="engine", exit_on_error=False)
        await self.show_chat()
        self.call_after_refresh(self.collecting.begin)

    def on_unmount(self) -> None:
        self.collecting.close()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self.engine_changed()

    def show_trouble(self) -> None:
        """The sign in the header, for as long as something is not saved."""
        self.query_one(Header).unsaved = unsaved = self.store.trouble is not None
        if unsaved:
            self._saving_again.soon()

    def say_no_model(self) -> None:
        """There is nothing to answer with."""
        self.news.tell_no_model(self.answering.state)

    def was_told(self, failure: Failed) -> None:
        """The user knows of this failure already."""
        self.news.was_told(failure)

    def outgrown(self, refusal: Refusal) -> None:
        """The conversation does not fit the context."""
        self.overflowing.refused(refusal)

    # ----------------------------------------------------------------------------------------------- the dialogue

    @on(Composer.Sent)
    async def send(self, event: Composer.Sent) -> None:
        """What was typed is done, if it is a command, or goes out."""
        typed = commands.parse(self.composer.text)
        try:
            if typed is not None:
                await self.writing.run(typed)
            else:
                await self.dialogue.send()
        finally:
            event.on_its_way.end()

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

    def speaker(self) -> str:
        pair = self.answering.state.pair
        return speaker_name(pair.target) if pair else short_name(self.target_path) if self.target_path else "answer"

    def animate_answers(self, on: bool) -> None:
        """Draw an answer while it is made."""
        self.collecting.answering(on)
        self.frames.answering(on)

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
        self.news.tell(state, self.mode, self.speaker(), answering=live is not None)
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

    def show_empty(self) -> None:
        self.query_one(Welcome).display = self.chat.empty
        self.transcript.display = not self.chat.empty

    def show_header(self) -> None:
        header = self.query_one(Header)
        header.title = self.chat.title
        header.used = self.chat.context_used()
        self.transcript.mark_sent_from(self.chat.sent_from())

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
        if action == "export":
            return not self.chat.empty
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

    def key_escape(self) -> None:
        """Where esc has nothing else to do, what was said has been read."""
        if self.composer.has_focus:
            self.notices.clear()

    def action_stop(self) -> None:
        self.answering.stop()

    async def action_new_chat(self) -> None:
        await self.open_conversation(None)

    async def action_export(self, wanted: str = "") -> None:
        """Write this chat to a file."""
        from app.tui.exporting import export_as

        self.reply(await export_as(wanted, self.store, self.chat, self.system_prompt))

    def action_context(self) -> None:
        """How full the context is, and what can be done about it."""
        self.overflowing.show()

    # --------------------------------------------------------------------------------------------------- leaving

    def leave(self) -> None:
        """The app ends now: keep what has arrived."""
        self.dialogue.leave()
        if self.opened:
            self.writing.keep()
