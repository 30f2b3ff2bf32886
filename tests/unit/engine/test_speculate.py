"""The loop on a model made of arithmetic: whatever is drafted, the same tokens come out and the counts add up."""

import itertools
import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.counting import Counter
from engine.drafters.base import Draft, NoDrafter
from engine.llama.context import DecodeAborted
from engine.protocol import FinishReason, Sampling
from engine.sampling import Chooser
from engine.speculate import speculate
from engine.stats import Stats, until_now

VOCABULARY, END = 17, 16


class ArithmeticTarget:
    """Stands for a Context: the logits at a position depend on every token up to it."""

    def __init__(self, size: int = 200, abort_at_pass: int | None = None) -> None:
        self.size = size
        self.tokens: list[int] = []
        self.passes = 0
        self._abort_at_pass = abort_at_pass

    @property
    def length(self) -> int:
        return len(self.tokens)

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> np.ndarray:
        assert len(self.tokens) + len(tokens) <= self.size
        self.passes += 1
        if self.passes == self._abort_at_pass:
            self.tokens += tokens[:1]  # a part of the batch may stay in the cache
            raise DecodeAborted
        out = []
        for token in tokens:
            self.tokens.append(token)
            out.append(logits_of(self.tokens))
        return np.array(out)

    def truncate(self, length: int) -> bool:
        del self.tokens[length:]
        return True


def logits_of(tokens: Sequence[int]) -> np.ndarray:
    seed = 0
    for token in tokens[-4:]:
        seed = (seed * 31 + token) % 1000
    row = np.random.default_rng(seed).normal(0, 2, VOCABULARY).astype(np.float32)
    row[END] -= 3
    return row


class PlannedDrafter:
    """Knows the true continuation and spoils it according to a plan of (length, right until)."""

    name = "draft"

    def __init__(self, truth: Sequence[int], plan: Sequence[tuple[int, int]]) -> None:
        self._truth, self._plan, self._round = truth, plan, 0

    def begin(self, prompt: Sequence[int]) -> None:
        self._start = len(prompt)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        length, right = self._plan[self._round % len(self._plan)]
        self._round += 1
        at = len(history) - self._start
        tokens = list(self._truth[at : at + min(length, limit)])
        tokens = [t if i < right else (t + 1) % VOCABULARY for i, t in enumerate(tokens)]
        return Draft(tokens, self.name)


class Collector:
    def __init__(self, limit: int, ends: frozenset[int] = frozenset({END})) -> None:
        self.tokens: list[int] = []
        self.sources = ""
        self._limit, self._ends = limit, ends

    def push(self, token: int, source: str) -> FinishReason | None:
        self.tokens.append(token)
        self.sources += source
        if token in self._ends:
            return "stop"
        return "length" if len(self.tokens) >= self._limit else None


def run(
    drafter: object,
    *,
    limit: int = 40,
    seed: int = 1,
    temperature: float = 0.8,
    target: ArithmeticTarget | None = None,
    most: int = 8,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Collector, Stats, FinishReason, ArithmeticTarget, list[int]]:
    target = target or ArithmeticTarget()
    history = [3, 1, 4]
    target.decode(history[:-1])
    target.passes = 0
    counter, sink = Counter(clock), Collector(limit)
    counter.prefill_end = counter.clock()
    drafter.begin(history)  # type: ignore[attr-defined]
    reason = speculate(
        target,  # type: ignore[arg-type]
        drafter,  # type: ignore[arg-type]
        Chooser(VOCABULARY, Sampling(temperature=temperature), seed),
        history,
        sink=sink,
        draft_limit=lambda length: min(most, target.size - length, limit - len(sink.tokens) - 1),
        counter=counter,
        cancelled=lambda: False,
        after_pass=lambda: None,
    )
    return sink, counter.snapshot(), reason, target, history


@given(
    plan=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=6),
    seed=st.integers(0, 50),
    temperature=st.sampled_from([0.0, 0.7, 1.2]),
    limit=st.sampled_from([1, 2, 3, 7, 40]),
)
@settings(max_examples=200, deadline=None)
def test_any_draft_gives_the_plain_answer(
    plan: list[tuple[int, int]], seed: int, temperature: float, limit: int
) -> None:
    plain, plain_stats, plain_reason, _, _ = run(NoDrafter(), limit=limit, seed=seed, temperature=temperature)
    drafter = PlannedDrafter([*plain.tokens, 5, 5, 5, 5, 5, 5, 5, 5], plan)
    drafted, stats, reason, target, history = run(drafter, limit=limit, seed=seed, temperature=temperature)

    assert drafted.tokens == plain.tokens
    assert reason == plain_reason
    assert target.tokens == history[:-1], "the cache holds the history except its last token"
    assert stats.drafted == stats.accepted + stats.rejected + stats.discarded
    assert stats.accepted <= stats.output_tokens == len(plain.tokens)
    assert stats.accepted == drafted.sources.count("d")
    assert sum(width * count for width, count in stats.pass_widths.items()) == stats.target_passes + stats.drafted
    assert stats.target_passes == target.passes
    assert plain_stats.acceptance is None
    assert plain_stats.coverage == 0


def test_a_right_draft_is_one_pass_with_a_bonus_token() -> None:
    plain, *_ = run(NoDrafter(), limit=9)
    assert END not in plain.tokens
    sink, stats, *_ = run(PlannedDrafter(plain.tokens, [(8, 8)]), limit=9)
    assert sink.sources == "ddddddddb"
    assert stats.target_passes == 1
    assert stats.tokens_per_pass == 9


def test_a_wrong_draft_costs_its_proposals_and_is_corrected() -> None:
    plain, *_ = run(NoDrafter(), limit=6)
    sink, stats, *_ = run(PlannedDrafter(plain.tokens, [(3, 1)]), limit=6)
    assert sink.sources == "dcdcdb"  # the last draft is cut to one: two tokens were still wanted
    assert (stats.accepted, stats.rejected, stats.discarded) == (3, 4, 0)
    assert stats.drafters["draft"].accepted_by_position == (3,)
    assert stats.drafters["draft"].verified_by_position == (3, 2)


def test_an_end_inside_a_draft_discards_what_lies_behind_it() -> None:
    seed = next(s for s in range(500) if END in run(NoDrafter(), seed=s, temperature=1.2)[0].tokens[2:6])
    plain, *_ = run(NoDrafter(), seed=seed, temperature=1.2)
    truth = [*plain.tokens, 1, 2, 3, 4, 5, 6, 7, 8]
    sink, stats, reason, target, history = run(PlannedDrafter(truth, [(8, 8)]), seed=seed, temperature=1.2)
    assert reason == "stop"
    assert sink.tokens == plain.tokens
    assert (stats.accepted, stats.rejected, stats.discarded) == (len(plain.tokens), 0, 8 - len(plain.tokens))
    assert stats.acceptance == 1
    assert target.tokens == history[:-1]


def test_a_mismatch_that_ends_the_answer_is_rejected_not_discarded() -> None:
    plain, *_ = run(NoDrafter(), limit=2)
    _, stats, *_ = run(PlannedDrafter([*plain.tokens, 1, 1], [(1, 1)]), limit=2)
    assert (stats.accepted, stats.rejected, stats.discarded) == (1, 0, 0)
    _, stats, *_ = run(PlannedDrafter([*plain.tokens, 1, 1], [(1, 0)]), limit=2)
    assert stats.rejected == 1


def test_no_time_is_called_drafting_where_nobody_was_asked_for_proposals() -> None:
    _, plain, _, _, _ = run(NoDrafter(), most=0, clock=itertools.count().__next__)
    assert plain.draft_seconds == 0
    assert plain.verify_seconds > 0
    assert plain.other_seconds > 0
    _, asked, _, _, _ = run(NoDrafter(), clock=itertools.count().__next__)
    assert asked.draft_seconds > 0, "who was asked and had nothing to propose took time, too"


@pytest.mark.parametrize("size", [3, 4, 5, 9, 12])
def test_the_edge_of_the_window_is_reached_and_never_crossed(size: int) -> None:
    plain, _, reason, _, history = run(NoDrafter(), target=ArithmeticTarget(size))
    assert (reason, len(history)) == ("length", size + 1) or reason == "stop"
    truth = [*plain.tokens, *range(8)]
    drafted, _, drafted_reason, *_ = run(PlannedDrafter(truth, [(8, 5), (2, 2)]), target=ArithmeticTarget(size))
    assert drafted.tokens == plain.tokens
    assert drafted_reason == reason


def test_an_aborted_pass_leaves_the_cache_at_the_last_agreed_token() -> None:
    target = ArithmeticTarget(abort_at_pass=4)
    sink, _, reason, _, history = run(NoDrafter(), target=target)
    assert reason == "cancelled"
    assert len(sink.tokens) == 3
    assert target.tokens == history[:-1]


def test_a_failing_sink_leaves_the_cache_consistent() -> None:
    class Failing(Collector):
        def push(self, token: int, source: str) -> FinishReason | None:
            super().push(token, source)
            if len(self.tokens) == 3:
                raise ValueError("the other end is gone")
            return None

    target, history = ArithmeticTarget(), [3, 1, 4]
    target.decode(history[:-1])
    with pytest.raises(ValueError, match="the other end is gone"):
        speculate(
            target,  # type: ignore[arg-type]
            NoDrafter(),
            Chooser(VOCABULARY, Sampling(temperature=0), 1),
            history,
            sink=Failing(10),
            draft_limit=lambda length: 0,
            counter=Counter(),
            cancelled=lambda: False,
            after_pass=lambda: None,
        )
    assert target.tokens == history[:-1]


def test_figures_of_an_answer_that_was_cut_off_are_brought_up_to_its_tokens() -> None:
    last = Stats(output_tokens=3, target_passes=2, accepted=1, rejected=2, drafted=3, acceptance=1 / 3)
    now = until_now(last, "tlcll")
    assert (now.output_tokens, now.accepted, now.rejected, now.drafted) == (5, 3, 2, 5)
    assert now.acceptance == pytest.approx(3 / 5)
    assert now.coverage == pytest.approx(3 / 5)
    assert now.drafted == now.accepted + now.rejected + now.discarded
