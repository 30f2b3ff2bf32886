"""One engine's state between requests: the loaded pair, and how a request becomes an answer."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from engine.answer import Answer
from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.cascade import Cascade
from engine.llama.backend import AbortFlag, versions
from engine.llama.context import ContextError, DecodeAborted
from engine.llama.model import LoadCancelled
from engine.pair import Pair, PairError
from engine.prompt import Prompt, build_prompt
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
    Prefilling,
    Receipt,
)
from engine.sampling import Chooser, random_seed
from engine.speculate import speculate
from engine.stats import Counter
from engine.text.sandbox import RenderInterrupted

Emit = Callable[[Event], None]

DEFAULT_DRAFT_MAX = 4
EXACT_DRAFT_MAX = 7
"""Passes of up to 8 tokens (7 proposals) round like single ones with the exact settings (measured, engine.md 0.1)."""


class Session:
    """Holds at most one pair. Not thread-safe: one thread owns it; only ``abort`` may be set from others."""

    def __init__(self) -> None:
        self.abort = AbortFlag()
        self.pair: Pair | None = None

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
                self.unload()  # first, so that two targets are never in memory at once
                self.pair = Pair(settings, self.abort, report)
            info = self.pair.info()
        except (LoadCancelled, RenderInterrupted):
            self.unload()
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Loading was stopped."))
        except PairError as error:
            emit(Failed(id=request.id, code=error.code, message=str(error), detail=error.detail))
        else:
            emit(Loaded(id=request.id, pair=info))

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
        try:
            prompt = build_prompt(pair.template, pair.target.model.vocabulary, request.settings.messages)
        except RenderInterrupted:
            emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped before the first token."))
            return
        size = pair.target.context.size
        if len(prompt.ids) >= size:
            emit(
                Failed(
                    id=request.id,
                    code=ErrorCode.PROMPT_TOO_LARGE,
                    message=f"The conversation is {len(prompt.ids):,} tokens long and the context holds {size:,}. "
                    "Nothing was sent or lost: shorten the message, start a new chat, or use a larger context.",
                    detail=f"prompt {len(prompt.ids)} tokens, context {size} tokens",
                )
            )
            return
        try:
            _Generation(pair, request, prompt, counter, self.abort, emit).run()
        except ContextError as error:
            emit(Failed(id=request.id, code=ErrorCode.INTERNAL, message=str(error), detail=error.detail))


class _Generation:
    """The pieces of one answer, put together: prompt, chooser, drafter, answer, receipt."""

    def __init__(
        self, pair: Pair, request: Generate, prompt: Prompt, counter: Counter, abort: AbortFlag, emit: Emit
    ) -> None:
        settings = request.settings
        self._pair, self._request, self._prompt = pair, request, prompt
        self._counter, self._abort, self._emit = counter, abort, emit
        self._notes = [*prompt.template.notes]
        self._seed = random_seed() if settings.seed is None else settings.seed
        vocabulary = pair.target.model.vocabulary
        self._chooser = Chooser(vocabulary.size, settings.sampling, self._seed, vocabulary.suppressed)
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

    def run(self) -> None:
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
                )
            finally:
                self._pair.cached = history[: context.length]
        if reason == "length" and len(history) > context.size:
            self._notes.append(f"the context of {context.size:,} tokens is full")
        self._finish(reason)

    def _prefill(self, history: list[int]) -> FinishReason | None:
        """Bring the target's cache to ``history[:-1]``: keep the longest common prefix, evaluate the rest."""
        pair, counter, context = self._pair, self._counter, self._pair.target.context
        started = counter.clock()
        last = len(history) - 1
        kept = common_prefix(pair.cached[: context.length], history[:last])
        if not context.truncate(kept):
            kept = 0
        counter.prompt_tokens_cached = kept
        self._emit(Prefilling(id=self._request.id, done=kept, total=last))
        try:
            while context.length < last:
                if self._abort.is_set:
                    return "cancelled"
                context.decode(history[context.length : last][: context.chunk], rows=0)
                self._emit(Prefilling(id=self._request.id, done=context.length, total=last))
        except DecodeAborted:
            return "cancelled"
        finally:
            pair.cached = history[: context.length]
            counter.prefill_end = counter.clock()
            counter.prefill = counter.prefill_end - started
        return None

    def _draft_limit(self, length: int) -> int:
        """Proposals allowed behind a history of ``length``: room in the window, tokens still wanted, the cap."""
        limit = min(self._draft_max, self._pair.target.context.size - length)
        remaining = self._answer.remaining()
        return limit if remaining is None else min(limit, remaining - 1)

    def _choose_drafter(self, settings: GenerateSettings) -> Drafter:
        pair, mode = self._pair, settings.speculation
        if mode == "off":
            return NoDrafter()
        if not pair.rolls_back:
            self._notes.append("plain: this model's memory cannot take a pass back")
            return NoDrafter()
        if mode == "lookup":
            return pair.lookup
        if pair.drafter is None or pair.draft is None:
            if pair.draft_refused:
                self._notes.append(f"draft refused: {pair.draft_refused}; lookup is used")
            elif mode == "draft":
                self._notes.append("no draft model was chosen; lookup is used")
            return pair.lookup
        pair.drafter.use(Chooser(pair.draft.model.vocabulary.size, settings.sampling, self._seed))
        return pair.drafter if mode == "draft" else Cascade(pair.lookup, pair.drafter)

    def _choose_draft_max(self, settings: GenerateSettings) -> int:
        if isinstance(self._drafter, NoDrafter):
            return 0
        wish = DEFAULT_DRAFT_MAX if settings.draft_max is None else settings.draft_max
        if self._pair.exact and wish > EXACT_DRAFT_MAX:
            self._notes.append(f"drafts of {wish} were asked for; exact mode allows {EXACT_DRAFT_MAX}")
            wish = EXACT_DRAFT_MAX
        return wish

    def _finish(self, reason: FinishReason) -> None:
        answer, counter = self._answer, self._counter
        text = answer.finish()
        counter.ended = counter.clock()
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
