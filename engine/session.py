"""One engine's state between requests: the loaded pair, and how a request becomes an answer."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator

from engine.answer import Answer
from engine.choice import BadSettings, ChoiceRule
from engine.drafters.base import Drafter, NoDrafter, Outcome
from engine.drafters.paced import PacedDrafter
from engine.llama.backend import AbortFlag, versions
from engine.llama.context import ContextError, DecodeAborted
from engine.llama.model import LoadCancelled
from engine.overflow import Fitted, TooLarge, fit
from engine.pair import Pair, PairError
from engine.prefill import next_chunk
from engine.profile import ProfileStore
from engine.prompt import build_prompt
from engine.protocol import (
    ErrorCode,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    Loading,
    LoadingWhat,
    PairChanged,
    Prefilling,
    Receipt,
    SelfTest,
    SelfTested,
)
from engine.sampling import random_seed
from engine.speculate import speculate
from engine.stats import Counter
from engine.text.sandbox import RenderInterrupted

Emit = Callable[[Event], None]

FIXED_DRAFT_MAX = 4
"""Proposals a pass where the user chose the drafter and no length; ``auto`` finds the length itself."""

PACED_DRAFT_MAX = 15
"""Most proposals that ``auto`` considers."""

MARK_EVERY = 2048
"""Tokens of a long prompt between copies of a running state; one more is made at its end, for the next message."""


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
            words = "This model keeps running states; the self-test needs to take tokens back and cannot judge it."
            emit(Failed(id=request.id, code=ErrorCode.BAD_REQUEST, message=words))
            return
        try:
            for _ in pair.self_test():
                if self.abort.is_set:
                    raise DecodeAborted
        except DecodeAborted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="The self-test was stopped."))
        except ContextError as error:
            emit(Failed(id=request.id, code=ErrorCode.INTERNAL, message=str(error), detail=error.detail))
        else:
            assert pair.tested is not None
            emit(PairChanged(pair=pair.info()))
            emit(SelfTested(id=request.id, result=pair.tested))

    def idle_work(self) -> Generator[bool, None, None] | None:
        """Something useful to do while nobody waits, in small steps that yield True when the pair's badge changed;
        None when there is nothing. The self-test waits for the first answer, which must not wait for it, and does not
        begin behind a cancel: who stops an answer wants the processor back."""
        pair = self.pair
        if pair is None or pair.tested is not None or not pair.exact or not pair.testable:
            return None
        return pair.self_test() if self._may_idle_work and not self._gave_up else None

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

    # ------------------------------------------------------------------------------------------------- generating

    def generate(self, request: Generate, emit: Emit, *, arrived: float | None = None) -> None:
        """Make one answer; ends with Finished or Failed. ``arrived``: perf_counter when the request came in."""
        counter = Counter(arrived=arrived)
        counter.queue = counter.clock() - counter.arrived
        pair = self.pair
        if pair is None:
            emit(Failed(id=request.id, code=ErrorCode.NO_MODEL, message="No model is loaded. Choose one, then send."))
            return
        size = pair.target.context.size
        try:
            fitted = fit(
                request.settings, lambda said: build_prompt(pair.template, pair.target.model.vocabulary, said), size
            )
        except RenderInterrupted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped before the first token."))
            return
        except TooLarge as error:
            code = ErrorCode.PROMPT_TOO_LARGE
            emit(Failed(id=request.id, code=code, message=error.sentence(size), detail=error.figures(size)))
            return
        try:
            reason = _Generation(pair, request, fitted, counter, self.abort, emit).run()
            self._may_idle_work = reason != "cancelled"
            pair.keep_profile()
        except BadSettings as error:
            emit(Failed(id=request.id, code=ErrorCode.BAD_SETTINGS, message=str(error)))
        except ContextError as error:
            emit(Failed(id=request.id, code=ErrorCode.INTERNAL, message=str(error), detail=error.detail))


class _Generation:
    """The pieces of one answer, put together: prompt, chooser, drafter, answer, receipt."""

    def __init__(
        self, pair: Pair, request: Generate, fitted: Fitted, counter: Counter, abort: AbortFlag, emit: Emit
    ) -> None:
        settings, prompt = request.settings, fitted.prompt
        self._pair, self._request, self._prompt, self._dropped = pair, request, prompt, fitted.dropped
        self._counter, self._abort, self._emit = counter, abort, emit
        self._notes = [*prompt.template.notes, *([fitted.note] if fitted.note else [])]
        self._seed = random_seed() if settings.seed is None else settings.seed
        vocabulary = pair.target.model.vocabulary
        self._choice = ChoiceRule(settings.sampling, self._seed, vocabulary, prompt.ids)
        self._notes += self._choice.notes
        self._chooser = self._choice.chooser()
        self._drafter = self._choose_drafter(settings)
        self._draft_max = self._choose_draft_max(settings)
        self._answer = Answer(
            request.id,
            vocabulary,
            stop=(*settings.stop, *prompt.stop),
            max_tokens=settings.max_tokens,
            drafter=self._drafter.name,
            counter=counter,
            emit=emit,
        )
        counter.prompt_tokens = len(prompt.ids)

    def run(self) -> FinishReason:
        """Make the answer; returns why it ended."""
        history = list(self._prompt.ids)
        context = self._pair.target.context
        reason = self._prefill(history)
        if reason is None:
            self._drafter.begin(history)
            try:
                reason = speculate(
                    context,
                    self._drafter,
                    self._chooser,
                    history,
                    sink=self._answer,
                    draft_limit=self._draft_limit,
                    counter=self._counter,
                    cancelled=lambda: self._abort.is_set,
                    after_pass=self._answer.after_pass,
                    observe=self._observe,
                )
            finally:
                self._pair.cached = history[: context.length]
        if reason == "length" and len(history) > context.size:
            self._notes.append(f"the context of {context.size:,} tokens is full")
        self._finish(reason)
        return reason

    def _prefill(self, history: list[int]) -> FinishReason | None:
        """Bring the target's cache to ``history[:-1]``: keep the longest common prefix, evaluate the rest."""
        pair, counter, context = self._pair, self._counter, self._pair.target.context
        started = counter.clock()
        last = len(history) - 1
        kept = common_prefix(pair.cached[: context.length], history[:last])
        context.truncate(kept)  # a running state may have to go further back, to its last mark
        kept = counter.prompt_tokens_cached = context.length
        self._emit(Prefilling(id=self._request.id, done=kept, total=last))
        try:
            while context.length < last:
                if self._abort.is_set:
                    return "cancelled"
                size = next_chunk(last - context.length, context.chunk, pair.prefill_width)
                context.decode(history[context.length :][:size], rows=0)
                context.mark(every=MARK_EVERY)
                self._emit(Prefilling(id=self._request.id, done=context.length, total=last))
            context.mark()
        except DecodeAborted:
            return "cancelled"
        finally:
            pair.cached = history[: context.length]
            counter.prefill_end = counter.clock()
            counter.prefill = counter.prefill_end - started
        return None

    def _observe(self, outcome: Outcome) -> None:
        """Whatever mode is on, every pass teaches the pair what it costs here."""
        self._pair.observe(outcome)
        if isinstance(self._drafter, PacedDrafter):
            self._drafter.observe(outcome)

    def _draft_limit(self, length: int) -> int:
        """Proposals allowed behind a history of ``length``: room in the window, tokens still wanted, the cap."""
        limit = min(self._draft_max, self._pair.target.context.size - length)
        remaining = self._answer.remaining()
        return limit if remaining is None else min(limit, remaining - 1)

    def _choose_drafter(self, settings: GenerateSettings) -> Drafter:
        pair, mode = self._pair, settings.speculation
        if mode == "off":
            return NoDrafter()
        if pair.target.context.longest_undo == 0:  # the pair's notes say why
            return NoDrafter()
        if mode == "lookup":
            return pair.lookup
        model = None
        if pair.drafter is not None and pair.draft is not None:
            pair.drafter.use(self._choice.chooser(pair.draft.model.vocabulary.size))
            model = pair.drafter
        elif pair.draft_refused:
            self._notes.append(f"draft refused: {pair.draft_refused}; lookup is used")
        elif mode == "draft":
            self._notes.append("no draft model was chosen; lookup is used")
        if mode == "draft":
            return model or pair.lookup
        return PacedDrafter(
            pair.lookup, model, pair.pacer, settings.sampling.temperature, lambda: self._answer.remaining()
        )

    def _choose_draft_max(self, settings: GenerateSettings) -> int:
        if isinstance(self._drafter, NoDrafter):
            return 0
        if settings.draft_max is not None:
            wish = settings.draft_max
        elif isinstance(self._drafter, PacedDrafter):
            wish = PACED_DRAFT_MAX
        else:
            wish = FIXED_DRAFT_MAX
        limits: list[tuple[int, str]] = []
        if (widest := self._pair.widest_exact_pass) is not None:
            limits.append((widest - 1, f"exact mode allows {widest - 1}"))
        if (most := self._pair.target.context.longest_undo) is not None:
            limits.append((most, f"this model can take back {most}"))
        for most, words in limits:
            if wish > most:
                if settings.draft_max is not None:
                    self._notes.append(f"drafts of {wish} were asked for; {words}")
                wish = most
        return wish

    def _finish(self, reason: FinishReason) -> None:
        answer, counter = self._answer, self._counter
        text = answer.finish()
        counter.ended = counter.clock()
        if self._chooser.note:
            self._notes.append(self._chooser.note)
        drafter = self._pair.drafter
        if drafter is not None and drafter.note and not isinstance(self._drafter, NoDrafter):
            self._notes.append(drafter.note)
        self._emit(
            Finished(
                id=self._request.id,
                finish_reason=reason,
                text=text,
                token_ids=tuple(answer.token_ids),
                sources="".join(answer.sources),
                stats=counter.snapshot(),
                receipt=self._receipt(),
            )
        )

    def _receipt(self) -> Receipt:
        pair = self._pair.info()
        return Receipt(
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            target=pair.target,
            draft=pair.draft,
            draft_refused=pair.draft_refused,
            template=self._prompt.template,
            prompt_ids=tuple(self._prompt.ids),
            dropped_messages=self._dropped,
            settings=self._request.settings.model_copy(update={"messages": ()}),
            seed=self._seed,
            drafter=self._drafter.name,
            draft_max=self._draft_max,
            mode=pair.badge,
            backend=pair.backend,
            threads=pair.threads,
            context=pair.context,
            prefill_chunk=self._pair.target.context.chunk,
            versions=versions(),
            notes=(*pair.notes, *self._notes),
        )


def common_prefix(left: list[int], right: list[int]) -> int:
    """How many leading ids two sequences share."""
    most = min(len(left), len(right))
    if left[:most] == right[:most]:
        return most
    return next(i for i in range(most) if left[i] != right[i])
