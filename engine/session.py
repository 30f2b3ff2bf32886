"""One engine's state between requests: the loaded pair, and how a request becomes an answer."""

from __future__ import annotations

from collections.abc import Callable, Generator

from engine.choice import BadSettings
from engine.continuation import tokens_so_far
from engine.counting import Counter
from engine.generation import Generation
from engine.llama.backend import AbortFlag
from engine.llama.context import BrokenLogits, ContextError, DecodeAborted
from engine.llama.model import LoadCancelled
from engine.overflow import Fitted, TooLarge, fit
from engine.pair import Pair
from engine.profile import ProfileStore
from engine.prompt import Prompt, build_prompt
from engine.protocol import (
    Count,
    Counted,
    ErrorCode,
    Event,
    Failed,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    Loading,
    LoadingWhat,
    PairChanged,
    Replay,
    Rollback,
    SelfTest,
    SelfTested,
)
from engine.replay import replay
from engine.target_file import PairError, checked_header
from engine.text.sandbox import RenderInterrupted

Emit = Callable[[Event], None]


UNTESTABLE: dict[Rollback, str] = {
    "none": "This model keeps one running state and is decoded plainly: there are no drafts that a self-test could "
    "compare with plain decoding.",
    "bounded": "This model's running states cannot be copied, so the self-test has no way back and cannot judge it. "
    "Drafts are verified with the exact settings all the same, untested.",
}
"""Why a target cannot be tested, and what that means."""


def failed(request_id: int, error: ContextError) -> Failed:
    """A pass that failed, or told nothing that can be used."""
    code = ErrorCode.BROKEN_MODEL if isinstance(error, BrokenLogits) else ErrorCode.INTERNAL
    return Failed(id=request_id, code=code, message=str(error), detail=error.detail)


class Session:
    """Holds at most one pair. Not thread-safe: one thread owns it; only ``abort`` may be set from others."""

    def __init__(self, profiles: ProfileStore | None = None) -> None:
        self.abort = AbortFlag()
        self.pair: Pair | None = None
        self._profiles = profiles
        self._may_idle_work = False
        self._gave_up = False

    # ---------------------------------------------------------------------------------------------------- loading

    def load(self, request: Load, emit: Emit) -> None:
        """Hold the wanted pair; ends with Loaded or Failed. A target that is loaded already stays."""
        settings = request.settings
        reported: dict[LoadingWhat, float] = {}

        def report(what: LoadingWhat, fraction: float) -> None:
            if fraction - reported.get(what, -1.0) >= 0.01:  # llama.cpp calls for every tensor
                reported[what] = fraction
                emit(Loading(id=request.id, what=what, fraction=fraction))

        try:
            if self.pair is not None and self.pair.serves(settings):
                self.pair.change_draft(settings, report)
            else:
                checked_header(settings.target.path)  # a file that is none leaves the pair before it in place
                self._gave_up = False
                self.unload()  # first, so that two targets are never in memory at once
                self.pair = Pair(settings, self.abort, report, self._profiles)
            info = self.pair.info()
        except (LoadCancelled, RenderInterrupted):
            self.unload()
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Loading was stopped."))
        except PairError as error:
            emit(Failed(id=request.id, code=error.code, message=str(error), detail=error.detail))
        else:
            emit(Loaded(id=request.id, pair=info))

    def self_test(self, request: SelfTest, emit: Emit) -> None:
        """Test the loaded target now; ends with SelfTested or Failed."""
        pair = self.pair
        if pair is None:
            emit(Failed(id=request.id, code=ErrorCode.NO_MODEL, message="No model is loaded. Choose one first."))
            return
        if not pair.testable:
            emit(Failed(id=request.id, code=ErrorCode.BAD_REQUEST, message=UNTESTABLE[pair.target.context.rollback]))
            return
        try:
            for _ in pair.self_test():
                if self.abort.is_set:
                    raise DecodeAborted
        except DecodeAborted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="The self-test was stopped."))
        except ContextError as error:
            emit(failed(request.id, error))
        else:
            assert pair.tested is not None
            emit(PairChanged(pair=pair.info()))
            emit(SelfTested(id=request.id, result=pair.tested))

    def idle_work(self) -> Generator[bool, None, None] | None:
        """Something useful to do while nobody waits, in small steps that yield True when the pair's badge changed;
        None when there is nothing. The self-test waits for the first answer, which must not wait for it, and does not
        begin behind a cancel: who stops an answer wants the processor back."""
        pair = self.pair
        if pair is None or not self._may_idle_work or self._gave_up:
            return None
        untested = pair.tested is None and pair.exactness.holds and pair.testable
        return _in_idle_time(pair, untested=untested) if untested or pair.whole.unread else None

    def give_up_idle_work(self) -> None:
        """It failed: do not try again with this pair."""
        self._gave_up = True

    def unload(self) -> None:
        """Give the pair's memory back."""
        if self.pair is not None:
            self.pair.close()
            self.pair = None

    def forget(self) -> None:
        """Keep the pair and drop every text it has read, so that the next answer starts from an empty history. What
        was learned about costs stays: it belongs to the pair and the machine, not to a text."""
        if self.pair is not None:
            self.pair.forget()

    def replay(self, request: Replay, emit: Emit) -> None:
        """Make a kept answer again on the loaded target; ends with Replayed or Failed."""
        if self.pair is None:
            emit(Failed(id=request.id, code=ErrorCode.NO_MODEL, message="No model is loaded. Choose one first."))
            return
        try:
            replay(self.pair, request, self.abort, emit)
        except BadSettings as error:
            emit(Failed(id=request.id, code=ErrorCode.BAD_SETTINGS, message=str(error)))
        except ContextError as error:
            emit(failed(request.id, error))

    def count(self, request: Count, emit: Emit) -> None:
        """Say how many tokens a text or a conversation takes; ends with Counted or Failed."""
        pair = self.pair
        if pair is None:
            emit(Failed(id=request.id, code=ErrorCode.NO_MODEL, message="No model is loaded. Choose one first."))
            return
        vocabulary = pair.target.model.vocabulary
        try:
            if request.text is not None:
                tokens = len(vocabulary.tokenize(request.text, parse_special=False))
            else:
                tokens = len(build_prompt(pair.template, vocabulary, request.messages, request.thinking).ids)
        except RenderInterrupted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="The count was stopped."))
        else:
            emit(Counted(id=request.id, tokens=tokens, context=pair.target.context.size))

    # ------------------------------------------------------------------------------------------------- generating

    @staticmethod
    def _prompt(pair: Pair, settings: GenerateSettings, size: int, so_far: int) -> Fitted:
        """What the answer continues; ``so_far`` tokens of it are there already. Raises TooLarge, BadSettings,
        RenderInterrupted."""
        vocabulary = pair.target.model.vocabulary
        if not settings.prompt_ids:
            return fit(
                settings,
                lambda said: build_prompt(pair.template, vocabulary, said, settings.thinking),
                size,
                so_far,
            )
        if not all(0 <= token < vocabulary.size for token in settings.prompt_ids):
            raise BadSettings(f"The prompt has tokens that this model of {vocabulary.size:,} tokens does not know.")
        if len(settings.prompt_ids) + so_far >= size:
            raise TooLarge(len(settings.prompt_ids) + so_far, "The prompt")
        return Fitted(Prompt([*settings.prompt_ids], (), pair.template.info()))

    def generate(self, request: Generate, emit: Emit, *, arrived: float | None = None) -> None:
        """Make one answer; ends with Finished or Failed. ``arrived``: perf_counter when the request came in."""
        pair = self.pair
        counter = Counter(arrived=arrived, plain=pair.plain if pair else None)
        counter.queue = counter.clock() - counter.arrived
        if pair is None:
            emit(Failed(id=request.id, code=ErrorCode.NO_MODEL, message="No model is loaded. Choose one, then send."))
            return
        size, vocabulary, settings = pair.target.context.size, pair.target.model.vocabulary, request.settings
        try:
            so_far = tokens_so_far(settings.answer_so_far, vocabulary)
            fitted = self._prompt(pair, settings, size, len(so_far))
        except BadSettings as error:
            emit(Failed(id=request.id, code=ErrorCode.BAD_SETTINGS, message=str(error)))
            return
        except RenderInterrupted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped before the first token."))
            return
        except TooLarge as error:
            emit(
                Failed(
                    id=request.id,
                    code=ErrorCode.PROMPT_TOO_LARGE,
                    message=error.sentence(size),
                    detail=error.figures(size),
                    outgrown=error.outgrown(size),
                )
            )
            return
        if settings.fresh:
            self.forget()
        try:
            reason = Generation(pair, request, fitted, counter, self.abort, emit, so_far).run()
            self._may_idle_work = reason != "cancelled"
            pair.keep_profile()
        except BadSettings as error:
            emit(Failed(id=request.id, code=ErrorCode.BAD_SETTINGS, message=str(error)))
        except ContextError as error:
            emit(failed(request.id, error))


def _in_idle_time(pair: Pair, *, untested: bool) -> Generator[bool, None, None]:
    if untested:
        yield from pair.self_test()
    if pair.whole.unread:
        for _ in pair.whole.read():
            yield False
        yield True
