"""What is said and answered, one after the other: every word in the store before anything else happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.chats.records import StoreError
from app.plain.speech import Speech
from app.receipt_words import counted
from app.tui import continuing
from app.tui.answer import Answer, Phase
from app.tui.answering import Answering
from app.tui.asked_again import BACK, SAME_AGAIN, comes_again, question_of
from app.tui.commands import typed_as
from app.tui.conversation import OpenChat, Turn, open_at
from app.tui.kept_answer import Beside, KeptAnswer

if TYPE_CHECKING:
    from app.chats.records import Attachment
    from app.chats.store import ChatStore
    from app.plain.lines import Lines
    from app.tui.ports import Engine
    from app.tui.surface import Severity
    from engine.protocol import GenerateSettings, LoadSettings

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 1 / 12
SLOW_SECONDS: Final = 3.0
"""Silence after which one line says what is going on."""

CHANGED: Final = "Another Slipstream has written here meanwhile. /show prints how the chat is now; then try again."
GONE: Final = "This is not in the chat any more; /show prints how it is now."


class Host(Protocol):
    """The chat that a dialogue belongs to."""

    lines: Lines
    thoughts: bool
    """Whether thoughts are written, too."""

    @property
    def target_path(self) -> str: ...

    def say(self, text: str, severity: Severity = "information") -> None: ...

    def say_no_model(self) -> None: ...

    def engine_changed(self) -> None: ...

    def settings(self) -> GenerateSettings: ...

    def speaker(self) -> str: ...

    def keep_unsent(self, text: str) -> None:
        """Keep what was typed and not sent with the chat."""

    def introduction(self) -> str:
        """What stands before the first word of an answer."""

    def loading_words(self) -> str: ...

    def answered(self, live: KeptAnswer) -> None:
        """An answer has ended and is kept; or it came to nothing."""


class Dialogue:
    """The open chat, the worker that answers, and the answer that is being made."""

    def __init__(
        self, host: Host, store: ChatStore, engine: Engine, load: LoadSettings | None, no_model: str, *, fresh: bool
    ) -> None:
        self.store = store
        self.chat = OpenChat(store, fresh=fresh)
        self.answering = Answering(engine, load, changed=host.engine_changed, ended=self._ended, no_model=no_model)
        self.live: KeptAnswer | None = None
        self._host = host
        self._over = asyncio.Event()

    # ---------------------------------------------------------------------------------------------------- sending

    async def send(
        self, text: str, attached: Sequence[Attachment] = (), *, instead_of: Turn | None = None
    ) -> KeptAnswer:
        """Keep the message, and have it answered. ``instead_of``: as a variant of that one."""
        beside = None
        if instead_of is not None and instead_of.message is not None:
            beside = Beside(self.chat.leaf, edited=instead_of)
            question = self.chat.say(text, attached, instead_of=instead_of.message)
        else:
            if self.chat.read_again():
                self._host.say("Another Slipstream has written here meanwhile; your message follows that.", "warning")
            question = self.chat.say(text, attached)
        return await self._ask(question, beside)

    async def regenerate(self, turn: Turn) -> None:
        """Another answer to the message that ``turn`` answers, or is. What was there stays as a variant."""
        question = question_of(turn)
        if question is not None and self.may_branch():
            if comes_again(self._host.settings()):
                self._host.say(SAME_AGAIN)
            await self._answer_again(question)

    async def continue_(self, turn: Turn) -> None:
        """Go on with an answer that was cut short. What was there stays as a variant."""
        if turn.message is not None and turn.message.parent is not None and self.may_branch():
            await self._answer_again(turn.message.parent, goes_on=turn)

    async def _answer_again(self, question_id: int, goes_on: Turn | None = None) -> None:
        beside = Beside(self.chat.leaf)
        question = self.chat.go_back_to(question_id)
        if question is not None:
            await self._ask(question, beside, goes_on)

    def may_branch(self) -> bool:
        """Whether the chat can be gone on with otherwise now; says why not."""
        if self.answering.load is None and self.answering.state.pair is None:
            self._host.say_no_model()
            return False
        if self.chat.read_again():
            self._host.say(CHANGED, "warning")
            return False
        return True

    def show_sibling(self, turn: Turn, step: int) -> int | None:
        """Take the branch of the variant of ``turn`` that is ``step`` further. Where it is on the path; None, and why
        is said, when there is none."""
        if turn.message is None:
            return None
        try:
            variants = [message.id for message in self.store.siblings(turn.message.id)]
            at = variants.index(turn.message.id) + step
            if not 0 <= at < len(variants):
                self._host.say(f"This is the {'first' if step < 0 else 'last'} of {len(variants)} variants.")
                return None
            self.chat.show_branch(variants[at])
        except StoreError:  # another instance took it back
            self.chat.read_again()
            self._host.say(GONE, "warning")
            return None
        return self.chat.position(variants[at])

    # --------------------------------------------------------------------------------------------------- the answer

    async def _ask(self, question: Turn, beside: Beside | None, goes_on: Turn | None = None) -> KeptAnswer:
        """Have the last message of the chat answered, and write the answer while it comes."""
        host = self._host
        self._over.clear()
        answer = continuing.submit(self.answering, host.settings(), goes_on, host.target_path)
        live = self.live = KeptAnswer(answer, self.chat, question, beside)
        speech = Speech(host.lines, answer, host.introduction(), thoughts=host.thoughts)
        patience = _Patience(host, answer, speech)
        while answer.running:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    await self._over.wait()
            live.begin_in_time(self._keep)
            live.checkpoint_in_time(self._keep)
            speech.feed()
            patience.look()
        speech.close()
        if live.in_vain:
            self._take_back(live)
        self.live = None
        host.answered(live)
        host.engine_changed()
        return live

    def _ended(self, answer: Answer) -> None:
        """Called by the engine's worker: the store comes first, writing after."""
        live = self.live
        if live is not None and live.answer is answer:
            live.end(self._keep)
        self._over.set()

    def _take_back(self, live: KeptAnswer) -> None:
        """Nothing came of an answer: the chat is as it was before."""
        if live.is_new_question:
            self._host.keep_unsent(typed_as(live.question.text))  # there before it is gone from the chat
            self.chat.take_back(live.question)
        if live.beside is not None:
            self.chat.show_branch(live.beside.leaf)
        if live.answer.failure is None:
            self._host.say(BACK)

    def _keep(self, write: Callable[..., None], *what: Any) -> None:
        """Write to the store; whatever goes wrong there, the chat goes on and the user knows."""
        try:
            write(*what)
        except Exception as error:
            log.exception("not saved")
            self._host.say(f"not saved: {error}", "warning")

    # ------------------------------------------------------------------------------------------------ other chats

    def begin_anew(self) -> None:
        """An empty chat takes the place of the open one."""
        self.chat = OpenChat(self.store, fresh=True)

    def turn_to(self, conversation_id: int, message_id: int | None = None) -> None:
        """Another chat takes the place of the open one, with the branch shown that ``message_id`` is in; StoreError
        when it is not there any more."""
        self.chat = open_at(self.store, conversation_id, message_id)

    def leave(self) -> None:
        """The chat ends now: keep what has arrived, whatever happens to the engine next."""
        live, self.live = self.live, None
        if live is not None and live.answer.running:
            live.answer.finish_reason, live.answer.phase = "cancelled", Phase.ENDED
            live.end(self._keep)
            self._over.set()


class _Patience:
    """One line each when loading, reading the prompt, or thinking takes its time."""

    def __init__(self, host: Host, answer: Answer, speech: Speech) -> None:
        self._host = host
        self._answer = answer
        self._speech = speech
        self._since = time.monotonic()
        self._said: set[str] = set()

    def look(self) -> None:
        answer = self._answer
        if not answer.running or answer.stop_wanted or time.monotonic() - self._since < SLOW_SECONDS:
            return
        if self._speech.thinking:
            self._once("thinking", f"Still thinking, {counted(answer.tokens)} so far.")
        elif answer.text:
            return
        elif loading := self._host.loading_words():
            self._once("loading", loading)
        elif answer.read is not None:
            self._once("reading", f"Reading: {answer.read[0]:,} of {answer.read[1]:,} tokens of the prompt.")

    def _once(self, what: str, words: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._since = time.monotonic()
            self._host.say(words)
