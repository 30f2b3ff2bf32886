"""What is said and answered in the open chat: one answer at a time, and what is sent meanwhile waits for its end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from app.attached import with_kept
from app.tui import continuing
from app.tui.answer import Answer, Phase
from app.tui.answering import Answering
from app.tui.asked_again import BACK
from app.tui.branching import Branching
from app.tui.commands import typed_as
from app.tui.conversation import OpenChat, Turn, open_at
from app.tui.editing import Editing
from app.tui.keymap import with_keys
from app.tui.live import Beside, LiveAnswer
from app.tui.overflowing import Refusal
from app.tui.widgets.turns import UserTurn

if TYPE_CHECKING:
    from app.chats.records import Attachment
    from app.chats.store import ChatStore
    from app.tui.ports import Engine
    from app.tui.stage import Stage
    from app.tui.widgets.selectable_turn import SelectableTurn
    from engine.protocol import LoadSettings

log = logging.getLogger(__name__)

ONE_AT_A_TIME: Final = "One answer at a time: your text waits here. {chat.stop} stops the running answer."
ANSWER_FIRST: Final = "An answer is being written here; stop it ({chat.stop} in the chat) or wait for its end first."


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
        self.branching = Branching(self, stage)
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
            await self._resend(self.editing.turn)
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
        await self.ask(question)

    async def _resend(self, turn: Turn) -> None:
        """What the composer holds goes out as a variant of the user's ``turn``, with a branch of its own."""
        said = turn.message
        if said is None or not await self.branching.possible() or self.editing.turn is not turn:
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
        await self.ask(question, beside, gone=gone)

    async def ask(
        self,
        question: Turn,
        beside: Beside | None = None,
        goes_on: Turn | None = None,
        gone: Sequence[SelectableTurn] = (),
    ) -> None:
        """Have the last message of the chat answered. ``goes_on``: the answer to it that is continued; ``gone``: what
        is on screen and no longer follows."""
        stage = self._stage
        answer = continuing.submit(self.answering, stage.settings(), goes_on, stage.target_path)
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
            return partial(self.branching.continue_, live.beside.goes_on)
        return partial(self.branching.regenerate, live.question)

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
        self.chat, self.files_back = open_at(self.store, conversation_id, message_id), ()

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
