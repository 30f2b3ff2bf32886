"""The self-test, on a context that rounds as told: it must find what is planted and claim nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engine.llama.context import EXACT, FAST, CacheSettings, ContextError
from engine.prefill import next_chunk
from engine.protocol import SelfTestResult
from engine.selftest import LENGTHS, NEEDED, WIDEST, fewer_threads, self_test

Fault = Callable[["RoundingContext", int], bool]


class RoundingContext:
    """Logits depend on the tokens so far; a fault adds one unit in the last place to a pass that it picks."""

    chunk = 512
    longest_undo: int | None = None
    threads = 8
    open = 0

    def __init__(self, settings: CacheSettings, fault: Fault) -> None:
        self.settings, self._fault = settings, fault
        self.tokens: list[tuple[int, bool]] = []  # token, and whether its entry was written by a faulty pass
        RoundingContext.open += 1

    @property
    def length(self) -> int:
        return len(self.tokens)

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> np.ndarray:
        assert self.length + len(tokens) <= NEEDED + WIDEST
        faulty = self.settings == EXACT and self._fault(self, len(tokens))
        out = []
        for token in tokens:
            self.tokens.append((token, faulty))
            row = np.full(8, 1.0 + sum(t for t, _ in self.tokens) % 97, np.float32)
            if any(wrong for _, wrong in self.tokens):
                row[3] = np.nextafter(row[3], np.float32(1e9))
            out.append(row)
        return np.array(out[len(out) - (len(out) if rows is None else rows) :])

    def truncate(self, length: int) -> bool:
        del self.tokens[length:]
        return True

    def mark(self) -> None:
        pass

    def use_threads(self, count: int) -> None:
        self.threads = count

    def clear(self) -> None:
        self.tokens.clear()

    def close(self) -> None:
        RoundingContext.open -= 1


def run(fault: Fault) -> SelfTestResult:
    RoundingContext.open = 0
    steps = list(
        self_test(lambda settings: RoundingContext(settings, fault), list(range(NEEDED)), threads=8)  # type: ignore[arg-type,return-value]
    )
    assert steps[:-1] == [None] * (len(steps) - 1)
    assert RoundingContext.open == 0
    result = steps[-1]
    assert result is not None
    return result


def test_a_faultless_machine_is_exact() -> None:
    result = run(lambda context, width: False)
    assert result.exact
    assert (result.widths, result.context) == (WIDEST, NEEDED)
    assert "passes of up to 16 tokens and the prefill agree bit for bit" in result.words
    assert set(result.ratios) == set(range(2, WIDEST + 1))


@pytest.mark.parametrize("wrong", [2, 4, 5, 9, 16])
def test_the_first_width_that_differs_is_found(wrong: int) -> None:
    result = run(lambda context, width: wrong <= width <= WIDEST)
    assert result.widths == wrong - 1
    assert result.exact == (wrong > 4)
    if not result.exact:
        assert f"more than {wrong - 1} token{'s' * (wrong > 2)} round differently" in result.words


@pytest.mark.parametrize(
    ("wrong", "alike"), [((), (1, 4, 7)), ((4,), (1, 7)), ((1, 7), (4,)), ((1, 4, 7), ()), ((5,), (1, 4, 7))]
)
def test_numbers_of_threads_that_round_alike_are_found(wrong: tuple[int, ...], alike: tuple[int, ...]) -> None:
    result = run(lambda context, width: context.threads in wrong)
    assert result.threads == alike
    assert result.exact  # with all of them, it is


def test_fewer_threads_that_round_otherwise_in_wide_passes_are_found() -> None:
    result = run(lambda context, width: context.threads == 4 and width == WIDEST)
    assert result.threads == (1, 7)


def test_one_thread_has_no_fewer() -> None:
    assert [fewer_threads(count) for count in (1, 2, 3, 4, 16)] == [[], [1], [1, 2], [1, 2, 3], [1, 8, 15]]


@pytest.mark.parametrize("rare", [20, 100, 300])
def test_one_token_in_hundreds_that_rounds_differently_is_found(rare: int) -> None:
    """Matrices of floats that are small enough to be added up alike, nearly always."""
    result = run(lambda context, width: 1 < width <= WIDEST and context.length <= rare < context.length + width)
    assert (result.widths, result.exact) == (1, False)


def test_a_kernel_that_changes_at_512_is_found() -> None:
    result = run(lambda context, width: width == 6 and context.length + width >= 512)
    assert result.widths == 5


@pytest.mark.parametrize("chunk", [64, 512])
def test_prefill_that_differs_from_decoding_is_never_called_exact(chunk: int) -> None:
    result = run(lambda context, width: width == chunk)
    assert not result.prefill
    assert not result.exact
    assert result.words == "reading a prompt rounds differently from decoding it"


def test_it_can_be_left_at_any_step() -> None:
    RoundingContext.open = 0
    for steps in (1, 5, 40):
        test = self_test(lambda settings: RoundingContext(settings, lambda c, w: False), list(range(NEEDED)))  # type: ignore[arg-type,return-value]
        for _ in range(steps):
            next(test)
        test.close()
        assert RoundingContext.open == 0


@pytest.mark.parametrize("settings", [EXACT, FAST])
def test_the_settings_asked_for_are_tested(settings: CacheSettings) -> None:
    made: list[CacheSettings] = []

    def make(wanted: CacheSettings) -> RoundingContext:
        made.append(wanted)
        return RoundingContext(EXACT, lambda context, width: len(made) == 1 and width == 6)  # a fault in the first only

    result = [*self_test(make, list(range(NEEDED)), settings)][-1]  # type: ignore[arg-type]
    assert made == [settings, FAST]
    assert result is not None
    assert result.widths == 5


def test_it_compares_on_both_sides_of_the_kernel_borders() -> None:
    assert LENGTHS[0] < 64
    assert LENGTHS[1] < 512 < LENGTHS[1] + WIDEST


@pytest.mark.parametrize(
    ("widest", "sizes"), [(None, [512, 512, 130]), (7, [512, 512, 64, 64, 2]), (4, [512, 512, 64, 64, 2])]
)
def test_prompts_are_read_in_tested_widths_only(widest: int | None, sizes: list[int]) -> None:
    left, read = 1154, []
    while left:
        read.append(next_chunk(left, 512, widest))
        left -= read[-1]
    assert read == sizes
    assert next_chunk(63, 512, 5) == 5


class StateContext(RoundingContext):
    """Keeps running states: it takes back up to 7 tokens of the last pass, once, or goes back to its mark."""

    longest_undo = 7

    def __init__(self, settings: CacheSettings, *, leaves_a_trace: bool = False, copies: bool = True) -> None:
        super().__init__(settings, lambda context, width: False)
        self._leaves_a_trace, self._copies = leaves_a_trace, copies
        self._undo = 0
        self._marked: list[tuple[int, bool]] = []

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> np.ndarray:
        self._undo = min(len(tokens) - 1, self.longest_undo)
        return super().decode(tokens, rows=rows)

    def mark(self) -> None:
        self._marked = [*self.tokens] if self._copies else []

    def truncate(self, length: int) -> bool:
        if length >= self.length:
            return True
        if self.length - length <= self._undo:
            self._undo = 0
            del self.tokens[length:]
            if self._leaves_a_trace:
                self.tokens[-1] = (self.tokens[-1][0], True)
            return True
        self.tokens = [*self._marked[:length]]
        return self.length == length

    def clear(self) -> None:
        super().clear()
        self._marked = []


def test_a_memory_with_running_states_is_tested_too() -> None:
    result = [*self_test(StateContext, list(range(NEEDED)))][-1]  # type: ignore[arg-type]
    assert result is not None
    assert (result.exact, result.widths) == (True, WIDEST)


def test_a_tail_that_is_taken_back_and_leaves_a_trace_is_found() -> None:
    def make(settings: CacheSettings) -> StateContext:
        return StateContext(settings, leaves_a_trace=True)

    result = [*self_test(make, list(range(NEEDED)))][-1]  # type: ignore[arg-type]
    assert result is not None
    assert not result.exact
    assert result.words == "a reused prefix rounds differently from a fresh one"


def test_without_a_way_back_nothing_is_claimed() -> None:
    RoundingContext.open = 0

    def make(settings: CacheSettings) -> StateContext:
        return StateContext(settings, copies=False)

    with pytest.raises(ContextError, match="could not take back what it had read"):
        list(self_test(make, list(range(NEEDED))))  # type: ignore[arg-type]
    assert RoundingContext.open == 0
