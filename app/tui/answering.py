"""The one worker that talks to the engine: loads the pair, makes one answer at a time, and can always be stopped.

Nothing here draws. The worker writes what arrives into an :class:`~app.tui.answer.Answer`; the screen looks at it with
one timer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.tui.answer import Answer, Phase
from app.tui.engine_state import EngineState
from app.tui.thoughts import Thinking
from engine.protocol import (
    Counted,
    ErrorCode,
    Failed,
    Finished,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    PairInfo,
    Prefilling,
    Progress,
    Started,
    TextDelta,
)

if TYPE_CHECKING:
    from app.tui.ports import AnswerEvent, Engine

log = logging.getLogger(__name__)

STOP_AGAIN = 0.05
"""Seconds between two cancels of one stop: the first can come before the request has reached the engine."""


class Answering:
    """Owns the conversation with the engine. ``changed`` is called after every change of state, ``ended`` once per
    answer, after its last text has arrived. ``no_model`` is said when there is none to answer with."""

    def __init__(
        self,
        engine: Engine,
        load: LoadSettings | None,
        *,
        changed: Callable[[], None],
        ended: Callable[[Answer], None],
        no_model: str = "",
    ) -> None:
        self.engine = engine
        self.state = EngineState(is_loading=load is not None)
        self.answer: Answer | None = None
        self.loaded: Callable[[LoadSettings], None] = lambda load: None
        """Called when a pair that was asked for holds; somebody may want to remember that it does."""
        self._wanted = load
        self._held: LoadSettings | None = None
        self._loading: LoadSettings | None = None
        self._changed = changed
        self._ended = ended
        self._no_model = no_model
        self._wake = asyncio.Event()
        self._stops: set[asyncio.Task[None]] = set()
        engine.on_pair_change = self._pair_changed

    @property
    def busy(self) -> bool:
        """Whether an answer is waiting or being made."""
        return self.answer is not None and self.answer.running

    async def work(self) -> None:
        """The worker: load, then answer for ever. Run it once."""
        while True:
            answer = self.answer
            if self._wanted is not None:
                await self._hold(self._wanted)
            elif answer is not None and answer.phase is Phase.WAITING:
                await self._make(answer)
            else:
                await self._wake.wait()
                self._wake.clear()

    @property
    def load(self) -> LoadSettings | None:
        """The pair that answers, or will once it is loaded."""
        return self._wanted or self._loading or self._held

    def switch(self, load: LoadSettings) -> None:
        """Hold another pair from now on. A running answer ends first, with the pair it began with; a pair that is being
        loaded gives way. What cannot be loaded leaves the pair before it in place."""
        self._wanted, self._no_model = load, ""
        if self._loading is not None:
            self._keep(asyncio.create_task(self._give_way(self._loading), name="give way"))
        self._wake.set()

    def submit(self, settings: GenerateSettings) -> Answer:
        """Ask for an answer. One at a time: call it only when not :attr:`busy`."""
        assert not self.busy
        begun = settings.answer_so_far
        so_far = begun.text if begun else ""
        self.answer = Answer(settings, so_far=so_far, fresh=[so_far] if so_far else [])
        self._wake.set()
        return self.answer

    async def count(self, text: str) -> int | None:
        """How many tokens ``text`` takes; None while the engine has other things to do, or cannot count."""
        if self.busy or self.state.pair is None:
            return None
        try:
            counted = await self.engine.count(text=text)
            return counted.tokens if isinstance(counted, Counted) else None
        except Exception:
            log.exception("tokens could not be counted")
            return None

    def stop(self) -> None:
        """Stop the answer, wherever it is; its text stays."""
        answer = self.answer
        if answer is None or not answer.running or answer.stop_wanted:
            return
        answer.stop_wanted = True
        if answer.phase is Phase.WAITING and self.state.is_loading:
            self._end(answer, "cancelled")  # the model goes on loading: it will be wanted
            return
        answer.phase = Phase.STOPPING
        self._changed()
        self._keep(asyncio.create_task(self._stop(answer), name="stop answer"))

    async def _stop(self, answer: Answer) -> None:
        while answer.running:
            await self.engine.cancel()
            await asyncio.sleep(STOP_AGAIN)

    async def _give_way(self, load: LoadSettings) -> None:
        while self._loading is load:
            await self.engine.cancel()
            await asyncio.sleep(STOP_AGAIN)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._stops.add(task)
        task.add_done_callback(self._stops.discard)

    # ----------------------------------------------------------------------------------------------- the worker

    async def _hold(self, wanted: LoadSettings) -> None:
        """Load ``wanted``; when that fails, what was held before, for the chat to go on with."""
        self._wanted, self._loading = None, wanted
        before = self._held
        await self._load_pair(wanted)
        failure = self.state.failure
        if self.state.pair is not None or before is None:
            self._held = wanted
            if self.state.pair is not None:
                self.loaded(wanted)
        elif failure is not None and self._wanted is None:
            self._loading = before
            await self._load_pair(before)
            self.state.instead_of = failure
        self._loading = None
        self._changed()

    async def _load_pair(self, settings: LoadSettings) -> None:
        self.state = EngineState(is_loading=True)
        self._changed()
        try:
            async with contextlib.aclosing(self.engine.load(settings)) as events:
                async for event in events:
                    self._note_load(event)
        except Exception as error:
            log.exception("loading failed")
            self._note_load(_internal(error))
        self.state.is_loading = False
        self._changed()

    async def _make(self, answer: Answer) -> None:
        if answer.phase is Phase.WAITING:
            answer.phase = Phase.READING
        self._changed()
        try:
            async with contextlib.aclosing(self.engine.generate(answer.settings)) as events:
                async for event in events:
                    self._take(answer, event)
        except Exception as error:
            log.exception("an answer failed")
            if answer.running:
                self._fail(answer, _internal(error))
        self.state.is_loading = False
        if answer.running:
            self._fail(answer, _internal(RuntimeError("the engine's answer has no end")))
        self._changed()

    def _take(self, answer: Answer, event: AnswerEvent) -> None:
        stopping = answer.phase is Phase.STOPPING
        match event:
            case Loading() | Loaded():
                self._note_load(event)
            case Started():
                answer.unfinished.receipt = event.receipt
            case Prefilling():
                answer.read = (event.done, event.total)
                pair = self.engine.pair
                answer.thinking = Thinking.begun(pair.template if pair else None, event.starts_in_thought)
                self._changed()
            case TextDelta():
                answer.tokens += len(event.token_ids)
                answer.unfinished.take(event)
                if event.text:
                    answer.text += event.text
                    answer.fresh.append(event.text)
                    answer.pieces.append((event.text, answer.tokens))
                if not stopping and answer.phase is not Phase.WRITING:
                    answer.phase = Phase.WRITING
                    self._changed()
            case Progress():
                answer.stats, answer.drafter = event.stats, event.drafter
                answer.context = self.engine.pair.context if self.engine.pair else 0
            case Finished():
                if event.text != answer.text and event.text.startswith(answer.text):
                    answer.fresh.append(event.text[len(answer.text) :])
                answer.text = event.text
                answer.stats, answer.finished = event.stats, event
                if event.receipt is not None:
                    answer.drafter, answer.context = event.receipt.drafter, event.receipt.context
                self._end(answer, event.finish_reason)
            case Failed(code=ErrorCode.CANCELLED):
                self._end(answer, "cancelled")
            case Failed(code=ErrorCode.NO_MODEL) if self._no_model:
                self._fail(answer, event.model_copy(update={"message": self._no_model}))
            case Failed():
                self._fail(answer, event)

    def _fail(self, answer: Answer, failure: Failed) -> None:
        answer.failure = failure
        if failure.code is ErrorCode.ENGINE_STOPPED:
            self.state = EngineState(stopped=True)
        elif self.engine.pair is None:
            self.state = EngineState(failure=failure)
        self._end(answer, "failed")

    def _end(self, answer: Answer, reason: str) -> None:
        if answer.running:
            answer.phase = Phase.ENDED
            answer.finish_reason = reason
            self._ended(answer)
            self._changed()

    def _pair_changed(self, pair: PairInfo) -> None:
        """The engine found something out about the loaded pair by itself: how exact it is here."""
        self.state = EngineState(pair=pair)
        self._changed()

    def _note_load(self, event: Loading | Loaded | Failed) -> None:
        match event:
            case Loading():
                self.state = EngineState(loading=event, is_loading=True)
            case Loaded():
                self.state = EngineState(pair=event.pair)
            case Failed(code=ErrorCode.CANCELLED):
                self.state = EngineState()
            case Failed():
                self.state = EngineState(failure=event, stopped=event.code is ErrorCode.ENGINE_STOPPED)
        self._changed()


def _internal(error: Exception) -> Failed:
    return Failed(
        id=0,
        code=ErrorCode.INTERNAL,
        message=f"Something went wrong inside Slipstream ({type(error).__name__}). What arrived so far is kept; "
        "send again to go on.",
    )
