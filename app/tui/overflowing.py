"""A conversation that outgrows the context: the user is asked, and what they choose is done. Nothing is ever left out
without a word, and what was to be sent is in the composer while the question stands."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.chats.records import StoreError
from app.tui.background import aside, beside
from app.tui.overflow_choices import Choices, Way, when_asked, when_refused
from app.tui.overflow_policy import NO_MODEL, OVERFLOW, Policy, policy_of
from app.tui.widgets.overflow_picker import OverflowPicker

if TYPE_CHECKING:
    from textual import events

    from app.library.window import Window, Windows
    from app.tui.conversation import OpenChat
    from app.tui.on_its_way import OnItsWay
    from app.tui.screens.chat import ChatScreen
    from engine.protocol import Failed, Message, PairInfo

log = logging.getLogger(__name__)

IN_COMPOSER: Final = "your message is in the composer"
AS_IT_WAS: Final = "the answer is as it was"
SHOWS: Final = "/context shows what can be done."
DROPPING: Final = "Whenever this chat is full, its oldest turns are left out from now on; /overflow ask asks again."

Again = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The engine did not take a conversation; everything is again as it was before it was asked."""

    failure: Failed
    messages: tuple[Message, ...]
    """What was to be sent."""
    again: Again
    """Asks for the same answer once more."""
    composed: bool
    """Whether what was to be sent is in the composer now; else it was an answer that was to be made again."""
    interrupting: bool
    """Whether somebody has written on meanwhile: their keys are not to be taken for an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked now."""

    chat: OpenChat
    window: Window
    again: Again | None = None
    """None: nothing waits for the answer."""
    nothing_sent: str = ""
    """What is said when it stays so."""
    composed: bool = False
    """Whether what waits is in the composer."""


class Overflowing:
    """One for the chat screen."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._question: Question | None = None

    @property
    def policy(self) -> Policy:
        """What becomes of the open chat when it is full."""
        return policy_of(self._screen.slipstream.overflow, self._screen.chat.conversation.settings)

    def differing(self) -> list[str]:
        """The same in few words, where it is not what holds for all chats."""
        return [] if self.policy == self._screen.slipstream.overflow else [f"overflow {self.policy}"]

    @property
    def asking(self) -> bool:
        """Whether the question stands."""
        return self._question is not None

    @property
    def _picker(self) -> OverflowPicker:
        return self._screen.query_one(OverflowPicker)

    # --------------------------------------------------------------------------------------------------- asking

    def refused(self, refusal: Refusal) -> None:
        """Ask, or where nobody is to be asked, say why nothing was sent."""
        if refusal.failure.outgrown is None:
            self._screen.say(refusal.failure.message, "warning")
        elif refusal.interrupting or self.policy == "stop":
            self._explain(refusal)
        else:
            self._begin(self._ask_about, refusal)

    def show(self) -> None:
        """The question without an occasion: how full the context is, and what can be done about it. One that stands
        already has an occasion, and stays."""
        if self._question is None:
            self._begin(self._ask)

    async def windows(self, pair: PairInfo) -> Windows:
        """The contexts that ``pair``, which is loaded, could have instead."""
        from app.library.window import Windows  # reads headers: not before it is wanted

        return await aside(Windows, pair, self._screen.slipstream.gpus)

    def _begin(self, work: Callable[..., Awaitable[None]], *what: object) -> None:
        """Beside the screen, since a disk is asked; the last question counts."""
        beside(self._screen, "overflow", self._safely, work, *what)

    async def _safely(self, work: Callable[..., Awaitable[None]], *what: object) -> None:
        try:
            await work(*what)
        except Exception as error:
            log.exception("the question about the context failed")
            words = f"Something went wrong inside Slipstream ({type(error).__name__}); nothing was sent or lost."
            self._screen.say(words, "error")

    async def _ask_about(self, refusal: Refusal) -> None:
        screen, outgrown, pair = self._screen, refusal.failure.outgrown, self._screen.answering.state.pair
        if outgrown is None or pair is None:
            self._explain(refusal)
            return
        before = screen.chat, screen.composer.document.text
        window = (await self.windows(pair)).larger(outgrown.tokens)
        same = before == (screen.chat, screen.composer.document.text) and screen.dialogue.live is None
        if not same or screen.focused not in (None, screen.composer):
            self._explain(refusal)
            return
        kept = IN_COMPOSER if refusal.composed else AS_IT_WAS
        tokens = f"{outgrown.tokens:,} tokens do not fit into the context of {outgrown.context:,}"
        nothing_sent = f"Nothing was sent: {tokens}; {kept}."
        self._question = Question(screen.chat, window, refusal.again, nothing_sent, refusal.composed)
        self._open(when_refused(outgrown, refusal.messages, window, kept))

    async def _ask(self) -> None:
        screen, pair = self._screen, self._screen.answering.state.pair
        if pair is None:
            screen.reply(NO_MODEL, "warning")
            return
        window = (await self.windows(pair)).larger(pair.context)
        self._question = Question(screen.chat, window)
        self._open(when_asked(screen.chat.context_used(), pair.context, self.policy, window))

    def _open(self, choices: Choices) -> None:
        self._picker.ask(choices, self._answer, self._write_on)
        self._screen.refresh_bindings()

    def _explain(self, refusal: Refusal) -> None:
        self._screen.say(f"{refusal.failure.message} {SHOWS}", "warning")

    # ------------------------------------------------------------------------------------------------ answering

    def _answer(self, way: Way) -> None:
        """Something was chosen. The question goes at once: the keys behind it are for the composer."""
        question = self._close()
        if question is None:
            return
        if way == "stop":
            self._say_nothing_sent(question)
            return
        held = self._screen.composer.hold() if question.composed else None
        self._screen.call_next(self._do, way, question, held)

    async def _do(self, way: Way, question: Question, held: OnItsWay | None) -> None:
        """Do what was chosen. ``held``: the message that waits in the composer."""
        try:
            if self._screen.chat is not question.chat:  # another chat came on screen in this moment
                return
            match way:
                case "drop":
                    own = self._screen.chat.conversation.settings
                    self._screen.keep_settings({**own, OVERFLOW: "drop-oldest"})
                    words = DROPPING
                case "larger":
                    words = self.widen(question.window.size)
                case _:
                    return
            if question.again is not None:
                await question.again()
        except StoreError as error:  # another instance has deleted the chat
            self._screen.reply(str(error), "warning")
        else:
            self._screen.notices.also(words, "information")  # below what the second attempt had to say
        finally:
            if held is not None:
                held.end()

    def widen(self, size: int) -> str:
        """Load the pair again with a context of ``size`` tokens. Returns what there is to say."""
        words = f"The context becomes {size:,} tokens: the model is loaded anew, the chat stays."
        self._screen.slipstream.use_window(size, words)
        return words

    def follow(self, chat: OpenChat) -> None:
        """The transcript was drawn anew: the question was about what it showed before."""
        question = self._close()
        if question is not None and question.chat is chat:
            self._say_nothing_sent(question)

    def _write_on(self, event: events.Event) -> None:
        """Who writes on has decided: nothing is sent now. Called in the app's task, see ``TurnScreen``."""
        question = self._close()
        if question is not None:
            self._say_nothing_sent(question)
        self._screen.set_focus(self._screen.composer)
        self._screen.composer._forward_event(event)

    def _say_nothing_sent(self, question: Question) -> None:
        if question.nothing_sent:
            self._screen.reply(question.nothing_sent)

    def _close(self) -> Question | None:
        """The question that stood, and it does no longer."""
        question, self._question = self._question, None
        if question is not None:
            picker = self._picker
            had_focus = picker.has_focus_within
            picker.close()
            if had_focus:
                self._screen.set_focus(self._screen.composer)
            self._screen.refresh_bindings()
        return question
