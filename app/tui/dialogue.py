"""What is said and answered in the open chat: one answer at a time, and what is sent meanwhile waits for its end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.attached import with_kept
from app.chats.records import StoreError
from app.tui import continuing
from app.tui.answer import Answer, Phase
from app.tui.answering import Answering
from app.tui.commands import typed_as
from app.tui.conversation import OpenChat, Turn
from app.tui.editing import Editing
from app.tui.keymap import with_keys
from app.tui.live import Beside, LiveAnswer
from app.tui.overflowing import Refusal
from app.tui.thoughts import Thinking
from app.tui.widgets.turns import UserTurn

if TYPE_CHECKING:
    from app.chats.records import Attachment, Unsent
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from app.tui.widgets.composer import Composer
    from app.tui.widgets.notice import NoticeLine, Severity
    from app.tui.widgets.selectable_turn import SelectableTurn
    from app.tui.widgets.transcript import Transcript
    from engine.protocol import Failed, GenerateSettings, LoadSettings

log = logging.getLogger(__name__)

ONE_AT_A_TIME: Final = "One answer at a time: your text waits here. {chat.stop} stops the running answer."
ANSWER_FIRST: Final = "An answer is being written here; stop it ({chat.stop} in the chat) or wait for its end first."
WRITING: Final = "An answer is being made: {chat.stop} stops it, then this works."
CHANGED: Final = "Another Slipstream has written here meanwhile. This is how the chat is now: look, then press again."
GONE: Final = "This turn is not in the chat any more; the chat is shown as it is now."
BACK: Final = "Stopped before a word had come: the answer is as it was."
SAME_AGAIN: Final = (
    "At temperature 0 or with a fixed seed the same answer comes again, unless something else has changed."
)


class Stage(Protocol):
    """The screen that a dialogue is shown on."""

    @property
    def transcript(self) -> Transcript: ...

    @property
    def composer(self) -> Composer: ...

    @property
    def notices(self) -> NoticeLine: ...

    def say(self, text: str, severity: Severity = "information") -> None: ...

    def show_trouble(self) -> None: ...

    def show_header(self) -> None: ...

    def show_empty(self) -> None: ...

    def say_no_model(self) -> None: ...

    def engine_changed(self) -> None: ...

    def was_told(self, failure: Failed) -> None: ...

    def outgrown(self, refusal: Refusal) -> None: ...

    def animate_answers(self, on: bool) -> None: ...

    def settings(self) -> GenerateSettings: ...

    async def take_message(self) -> tuple[str, tuple[Attachment, ...]] | None: ...

    def keep_unsent(self) -> None: ...

    def take_unsent(self) -> Unsent: ...

    def put_unsent(self, unsent: Unsent) -> None: ...

    def speaker(self) -> str: ...

    async def show_chat(self) -> None: ...

    async def show_branch(self, instead_of: int, message_id: int) -> None: ...

    def show_editing(self, turn: Turn | None) -> None: ...

    @property
    def target_path(self) -> str: ...

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...


class Dialogue:
    """Owns the open chat, the worker that answers, and the answer that is being made."""

    def __init__(
        self, stage: Stage, store: ChatStore, engine: Engine, load: LoadSettings | None, no_model: str
    ) -> None:
        self.store = store
        self.chat = OpenChat(store)
        self.answering = Answering(engine, load, changed=stage.engine_changed, ended=self._ended, no_model=no_model)
        self.live: LiveAnswer | None = None
        self.editing = Editing(stage)
        self.left = False
        """The app ends: nothing is drawn or sent any more."""
        self.answered: Callable[[LiveAnswer], None] = lambda live: None
        """Called when an answer is kept and drawn; somebody may want to look at its figures."""
        self._stage = stage
        self._waiting: UserTurn | None = None
        """Sent while the answer before it was ending; goes out as soon as that is done."""
        self._sending = ""
        """On its way into the store."""
        self.files_back: Sequence[Attachment] = ()
        """Of a message that was refused: they go along again where it names them still, even if they are gone now."""

    @property
    def stoppable(self) -> bool:
        """Whether there is an answer to stop."""
        return self.live is not None and self.live.answer.running and not self.live.answer.stop_wanted

    @property
    def outgoing(self) -> str:
        """What was sent and is not in the store yet: it would be lost with the process."""
        waiting = typed_as(self._waiting.turn.text) if self._waiting is not None else ""
        return self._sending or waiting or self.editing.came_back

    # ---------------------------------------------------------------------------------------------------- sending

    async def send(self) -> None:
        """Keep the composer's message, show it, and ask for an answer."""
        if not self._stage.composer.text.strip():
            return
        if self.stoppable or (self.live is not None and self.editing.turn is not None):
            self._stage.say(with_keys(ONE_AT_A_TIME))
        elif self.editing.turn is not None:
            await self.resend(self.editing.turn)
        elif (message := await self._stage.take_message()) is None:
            return  # why not was said
        elif self.live is not None:
            await self._wait_with(*message)
        else:
            await self._send(*message)

    async def _wait_with(self, text: str, attached: tuple[Attachment, ...]) -> None:
        """The answer before is ending: show the message, and send it when that is done."""
        self._clear_hint()
        before, self._waiting = self._waiting, None
        if before is not None:
            text = f"{before.turn.text}\n\n{text}"
            attached = (*before.turn.attached, *attached)
        self._waiting = UserTurn(Turn(None, waiting=text, attached=attached))
        if before is not None:
            await before.remove()
        await self._stage.transcript.append(self._waiting)
        self._stage.transcript.follow()

    async def _send(self, text: str, attached: Sequence[Attachment] = ()) -> None:
        self._stage.notices.clear()
        self._sending = typed_as(text)
        if self.chat.read_again():  # another Slipstream has been at it
            await self._stage.show_chat()
        question = self.chat.say(text, with_kept(text, attached, self.files_back))
        self._sending, self.files_back = "", ()
        self._stage.keep_unsent()
        await self._ask(question)

    async def _ask(
        self,
        question: Turn,
        beside: Beside | None = None,
        goes_on: Turn | None = None,
        gone: Sequence[SelectableTurn] = (),
    ) -> None:
        """Have the last message of the chat answered. ``goes_on``: the answer to it that is continued; ``gone``: what
        is on screen and no longer follows."""
        stage = self._stage
        settings = stage.settings()
        if goes_on is not None:
            settings = continuing.going_on(settings, goes_on, self.answering.state.pair, stage.target_path)
        answer = self.answering.submit(settings)
        if goes_on is not None:
            answer.thinking = Thinking.of(goes_on.figures.receipt() if goes_on.figures else None)
        live = self.live = LiveAnswer(answer, self.chat, question, stage.speaker(), beside)
        stage.show_header()
        stage.show_empty()
        stage.say_no_model()
        await stage.transcript.take_away(gone)
        await stage.transcript.append(*((live.asked,) if live.asked else ()), live.view)
        await live.draw(self._keep)
        stage.transcript.follow()
        stage.animate_answers(True)
        stage.engine_changed()

    # ---------------------------------------------------------------------------------------------------- variants

    async def regenerate(self, turn: Turn) -> None:
        """Another answer to the message that ``turn`` answers, or is. What was there stays as a variant."""
        said = turn.message
        question = said.parent if said is not None and said.role == "assistant" else said.id if said else None
        if question is not None and await self._may_branch():
            settings = self._stage.settings()
            if settings.seed is not None or settings.sampling.temperature == 0:
                self._stage.say(SAME_AGAIN)
            await self._answer_again(question)

    async def continue_(self, turn: Turn) -> None:
        """Go on with an answer that was cut short. What was there stays as a variant."""
        if reason := continuing.why_not(turn):
            self._stage.say(reason)
        elif turn.message is not None and turn.message.parent is not None and await self._may_branch():
            await self._answer_again(turn.message.parent, goes_on=turn)

    async def _answer_again(self, question_id: int, goes_on: Turn | None = None) -> None:
        beside = Beside(self.chat.leaf, goes_on=goes_on, written=self._stage.composer.document.text)
        question = self.chat.go_back_to(question_id)
        if question is not None:
            self.editing.follow(self.chat)
            await self._ask(question, beside, goes_on, self._stage.transcript.from_message(question_id)[1:])

    async def resend(self, turn: Turn) -> None:
        """What the composer holds goes out as a variant of the user's ``turn``, with a branch of its own."""
        said = turn.message
        if said is None or not await self._may_branch() or self.editing.turn is not turn:
            return
        message = await self._stage.take_message()
        if message is None:
            return
        text, attached = message
        self._sending = typed_as(text)
        self.editing.end()
        beside = Beside(self.chat.leaf, edited=turn, written=self._stage.composer.document.text)
        gone = self._stage.transcript.from_message(said.id)
        question = self.chat.say(text, with_kept(text, attached, self.files_back), instead_of=said)
        self._sending, self.files_back = "", ()
        self._stage.keep_unsent()
        await self._ask(question, beside, gone=gone)

    def edit(self, turn: Turn) -> None:
        """Put what the user said into the composer, to be said otherwise."""
        if self.live is not None:
            self._stage.say(with_keys(WRITING))
        elif turn.message is not None:
            self.editing.begin(turn)

    async def show_sibling(self, turn: Turn, step: int) -> None:
        """The variant of ``turn`` that is ``step`` further, with what was said behind it last."""
        if self.live is not None:
            self._stage.say(with_keys(WRITING))
            return
        if turn.message is None:
            return
        try:
            variants = [message.id for message in self.store.siblings(turn.message.id)]
            at = variants.index(turn.message.id) + step
            if 0 <= at < len(variants):
                self.chat.show_branch(variants[at])
                await self._stage.show_branch(turn.message.id, variants[at])
        except StoreError:  # another instance took it back
            await self._look_again()

    async def _may_branch(self) -> bool:
        """Whether the chat can be gone on with otherwise now; says why not."""
        stage = self._stage
        if self.live is not None:
            stage.say(with_keys(WRITING))
            return False
        if self.answering.load is None and self.answering.state.pair is None:
            stage.say_no_model()
            return False
        if self.chat.read_again():
            await stage.show_chat()
            stage.say(CHANGED, "warning")
            return False
        stage.notices.clear()
        return True

    async def _look_again(self) -> None:
        self.chat.read_again()
        await self._stage.show_chat()
        self._stage.say(GONE, "warning")

    # ------------------------------------------------------------------------------------------- while it answers

    async def draw(self) -> None:
        """One frame of the answer that is being made."""
        if self.live is not None:
            await self.live.draw(self._keep)
            self._stage.show_trouble()

    def _keep(self, write: Callable[..., None], *what: Any) -> None:
        """Write to the store; whatever goes wrong there, the chat goes on and the user knows."""
        try:
            write(*what)
        except Exception as error:
            log.exception("not saved")
            self._stage.say(f"not saved: {error}", "warning")
        self._stage.show_trouble()

    def _ended(self, answer: Answer) -> None:
        """Called by the engine's worker. The store comes first, drawing after."""
        live = self.live
        if live is None or live.answer is not answer or self.left:
            return
        live.end(self._keep)
        self._stage.call_next(self._close_answer, live)

    async def _close_answer(self, live: LiveAnswer) -> None:
        failure = live.answer.failure
        self._clear_hint()
        await live.close()
        waiting = await self._take_waiting()
        if live.in_vain:
            if waiting is not None and live.refused:
                self._stage.composer.give_back(typed_as(waiting.text))
                waiting, self._sending = None, ""
            await self._take_back(live)
        if failure is not None:  # it was said, under the answer or above the composer
            self._stage.was_told(failure)
        self.live = None
        self.answered(live)
        self._stage.animate_answers(False)
        self._stage.show_header()
        self._stage.engine_changed()
        late = await self._take_waiting()  # sent while the above was awaited
        turns = [turn for turn in (waiting, late) if turn is not None]
        if turns and not self.left:
            attached = [one for turn in turns for one in turn.attached]
            await self._send("\n\n".join(turn.text for turn in turns), attached)

    async def _take_back(self, live: LiveAnswer) -> None:
        """Nothing came of an answer: what was on screen before it is there again, and its message in the composer."""
        failure, beside, stage = live.answer.failure, live.beside, self._stage
        interrupting = stage.composer.document.text != (beside.written if beside is not None else "")
        text = None
        if live.asked is not None:
            self._sending = typed_as(live.question.text)
            stage.keep_unsent()  # there before it is gone from the store
            text, self.files_back = self.chat.take_back(live.question), live.question.attached
        if beside is not None:
            self.chat.show_branch(beside.leaf)
            await stage.show_chat()
        if text is not None and beside is not None and beside.edited is not None:
            self.editing.begin(beside.edited, text)
        elif text is not None:
            stage.composer.give_back(typed_as(text))
        if text is not None:
            self._sending = ""
        stage.keep_unsent()
        stage.show_empty()
        if failure is None:
            stage.say(BACK)
        elif live.refused:
            said = live.answer.settings.messages
            stage.outgrown(Refusal(failure, said, self._once_more(live), text is not None, interrupting))
        else:
            stage.say(failure.message, "warning")

    def _once_more(self, live: LiveAnswer) -> Callable[[], Awaitable[None]]:
        """Asks for the same answer again, after :meth:`_take_back`."""
        if live.asked is not None:
            return self.send
        if live.beside is not None and live.beside.goes_on is not None:
            return partial(self.continue_, live.beside.goes_on)
        return partial(self.regenerate, live.question)

    async def _take_waiting(self) -> Turn | None:
        if self._waiting is None:
            return None
        turn = self._waiting.turn
        # until it is sent, or back in the composer
        self._sending = "\n\n".join(part for part in (self._sending, typed_as(turn.text)) if part)
        waiting, self._waiting = self._waiting, None
        await waiting.remove()
        return turn

    def _clear_hint(self) -> None:
        if self._stage.notices.text == with_keys(ONE_AT_A_TIME):
            self._stage.notices.clear()

    # ------------------------------------------------------------------------------------------------ other chats

    def begin_anew(self) -> None:
        """An empty chat takes the place of the open one."""
        self.chat, self.files_back = OpenChat(self.store, fresh=True), ()

    def why_stay(self) -> str:
        """Why no other chat can take the place of the open one now; nothing when one can."""
        return "" if self.live is None else with_keys(ANSWER_FIRST)

    def turn_to(self, conversation_id: int, message_id: int | None = None) -> None:
        """Another chat takes the place of the open one, with the branch shown that ``message_id`` is in; StoreError
        when it is not there any more."""
        if message_id is not None and all(said.id != message_id for said in self.store.peek(conversation_id)):
            self.store.switch_leaf(message_id)
        self.chat, self.files_back = OpenChat(self.store, wanted=conversation_id), ()

    def leave(self) -> None:
        """The app ends now: keep what has arrived, whatever happens to the engine next."""
        live, self.left = self.live, True
        if live is not None and live.answer.running:
            answer = live.answer
            answer.finish_reason, answer.phase = "cancelled", Phase.ENDED
            if not live.in_vain:
                live.chat.end(live.turn, answer)
        if self._waiting is not None:
            if live is not None and live.in_vain and live.beside is not None:
                self.chat.show_branch(live.beside.leaf)
            self.chat.say(self._waiting.turn.text, self._waiting.turn.attached)
            self._waiting = None
