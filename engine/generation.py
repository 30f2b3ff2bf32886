"""One answer from request to receipt: prompt in the cache, chooser and drafter chosen, the loop run, the figures."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from engine.answer import Answer
from engine.choice import BadSettings, ChoiceRule
from engine.continuation import COMPLETE
from engine.counting import Counter
from engine.drafters.base import Drafter, NoDrafter, Outcome
from engine.drafters.model import ModelDrafter
from engine.drafters.paced import PACED_DRAFT_MAX, PacedDrafter
from engine.exactness import EXACT_BADGE
from engine.llama.backend import AbortFlag, build_mark, versions
from engine.llama.context import BrokenLogits, ContextError, DecodeAborted
from engine.other_work import OtherWork
from engine.overflow import Fitted
from engine.pacing import not_worth_it
from engine.pair import Pair
from engine.prefill import next_chunk
from engine.prompt import marker_tokens
from engine.protocol import Event, Finished, FinishReason, Generate, GenerateSettings, Prefilling, Receipt, Started
from engine.sampling import random_seed
from engine.speculate import speculate
from engine.stats import Stats
from engine.step_back import StepBack

Emit = Callable[[Event], None]

FIXED_DRAFT_MAX = 4
"""Proposals a pass where the user chose the drafter and no length; ``auto`` finds the length itself."""

MARK_EVERY = 2048
"""Tokens of a long prompt between copies of a running state; one more is made at its end, for the next message."""


class Generation:
    """The pieces of one answer, put together: prompt, chooser, drafter, answer, receipt.

    ``so_far``: the tokens that the answer begins with, when it is continued. Raises BadSettings.
    """

    def __init__(
        self,
        pair: Pair,
        request: Generate,
        fitted: Fitted,
        counter: Counter,
        abort: AbortFlag,
        emit: Emit,
        so_far: Sequence[int] = (),
    ) -> None:
        settings, prompt = request.settings, fitted.prompt
        self._so_far = so_far
        self._others = OtherWork()
        self._threads = StepBack(pair.threads, pair.exactness.fewer_threads, pair.use_threads)
        self._pair, self._request, self._prompt, self._dropped = pair, request, prompt, fitted.dropped
        self._counter, self._abort, self._emit = counter, abort, emit
        self._notes = [*prompt.template.notes, *([fitted.note] if fitted.note else [])]
        self._seed = random_seed() if settings.seed is None else settings.seed
        vocabulary = pair.target.model.vocabulary
        self._choice = ChoiceRule(settings.sampling, self._seed, vocabulary, prompt.ids, so_far)
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
            so_far=so_far,
            visible=marker_tokens(prompt.template.markers, vocabulary),
        )
        if self._answer.complete:
            raise BadSettings(COMPLETE)
        counter.prompt_tokens = len(prompt.ids) + len(so_far)
        counter.context = pair.target.context.size

    def run(self) -> FinishReason:
        """Make the answer; returns why it ended. Raises ContextError when a pass failed or told nothing."""
        self._emit(Started(id=self._request.id, receipt=self._receipt(passes="")))
        history = [*self._prompt.ids, *self._so_far]
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
            except ContextError as error:
                self._answer.finish()  # what was chosen before is shown whole
                if isinstance(error, BrokenLogits):
                    context.clear()  # no later answer may begin with what it calculated
                raise
            finally:
                self._threads.end()
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
        counter.prompt_tokens_cached = context.length
        self._report_prefill(last)
        try:
            while context.length < last:
                if self._abort.is_set:
                    return "cancelled"
                size = next_chunk(last - context.length, context.chunk, pair.exactness.prefill_width)
                context.decode(history[context.length :][:size], rows=0)
                context.mark(every=MARK_EVERY)
                self._report_prefill(last)
            context.mark()
        except DecodeAborted:
            return "cancelled"
        finally:
            pair.cached = history[: context.length]
            if context.length < last:  # it was stopped
                counter.prompt_tokens_unread = len(history) - context.length
            counter.prefill_end = counter.clock()
            counter.prefill = counter.prefill_end - started
        return None

    def _report_prefill(self, total: int) -> None:
        self._emit(
            Prefilling(
                id=self._request.id,
                done=self._pair.target.context.length,
                total=total,
                starts_in_thought=self._prompt.starts_in_thought,
            )
        )

    def _observe(self, outcome: Outcome) -> None:
        """Whatever mode is on, every pass teaches the pair what it costs here."""
        self._pair.observe(outcome)
        self._threads.after_pass()
        if isinstance(self._drafter, PacedDrafter):
            self._drafter.observe(outcome)

    def _draft_limit(self, length: int) -> int:
        """Proposals allowed behind a history of ``length``: room in the window, tokens still wanted, the cap."""
        limit = min(self._draft_max, self._pair.target.context.size - length)
        remaining = self._answer.remaining()
        return limit if remaining is None else min(limit, remaining - 1)

    def _choose_drafter(self, settings: GenerateSettings) -> Drafter:
        pair, mode = self._pair, settings.speculation
        if mode == "off" or settings.draft_max == 0:
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
        if (widest := self._pair.exactness.widest_pass) is not None:
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
        counter.other_cores = self._others.cores()
        if self._threads.note:
            self._notes.append(self._threads.note)
        if self._chooser.note:
            self._notes.append(self._chooser.note)
        stats = counter.snapshot()
        self._notes += self._about_the_draft(stats)
        self._emit(
            Finished(
                id=self._request.id,
                finish_reason=reason,
                text=text,
                retracted=answer.retracted,
                token_ids=tuple(answer.token_ids),
                sources="".join(answer.sources),
                stats=stats,
                receipt=self._receipt(passes=str(self._pair.target.context.passes)),
            )
        )

    def _about_the_draft(self, stats: Stats) -> list[str]:
        """Whether the draft model pays, where it was left out or insisted on, and whether it gave up."""
        drafter, notes = self._drafter, list[str | None]()
        if isinstance(drafter, PacedDrafter):
            notes = [drafter.note]
        elif isinstance(drafter, ModelDrafter):
            counts = stats.drafters.get("draft")
            pays_not = not_worth_it(self._pair.pacer.cost, self._draft_max, counts.acceptance) if counts else None
            notes = [pays_not, drafter.note]
        return [note for note in notes if note]

    def _receipt(self, passes: str) -> Receipt:
        pair = self._pair.info()
        return Receipt(
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            target=pair.target,
            draft=pair.draft,
            draft_refused=pair.draft_refused,
            template=self._prompt.template,
            prompt_ids=(*self._prompt.ids, *self._so_far),
            continued_from=len(self._so_far),
            starts_in_thought=self._prompt.starts_in_thought,
            dropped_messages=self._dropped,
            settings=self._request.settings.model_copy(
                update={"messages": (), "prompt_ids": (), "answer_so_far": None}
            ),
            seed=self._seed,
            drafter=self._drafter.name,
            draft_max=self._draft_max,
            mode=pair.badge,
            backend=pair.backend,
            threads=pair.threads,
            context=pair.context,
            prefill_chunk=self._pair.target.context.chunk,
            passes="" if pair.badge == EXACT_BADGE else passes,
            stop=self._prompt.stop,
            versions=versions(),
            build=build_mark(),
            notes=(*pair.notes, *self._notes),
            text_lengths=self._answer.text_lengths(),
        )


def common_prefix(left: list[int], right: list[int]) -> int:
    """How many leading ids two sequences share."""
    most = min(len(left), len(right))
    if left[:most] == right[:most]:
        return most
    return next(i for i in range(most) if left[i] != right[i])
