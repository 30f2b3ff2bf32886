"""What a context takes back, for every kind of memory: afterwards it must be the one that never read it.

Logits are compared bit by bit with those of a second context that read the remaining text anew; the models are Q8_0,
whose passes of all widths agree with the exact settings.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.llama import checkpoints
from engine.llama.backend import AbortFlag, library
from engine.llama.context import EXACT, Context, ContextError, DecodeAborted, Logits
from engine.llama.model import Model
from engine.llama.rollback import probe
from tests.fixtures.kinds import WINDOW

KINDS = {
    "gemma3": "full",
    "lfm2": "bounded",
    "lfm2-swa": "bounded",
    "qwen35": "bounded",
    "mamba": "none",
    "mamba2": "none",
    "rwkv7": "none",
    "jamba": "none",
    "falcon-h1": "none",
}
STATES = [kind for kind, rollback in KINDS.items() if rollback != "full"]
BOUNDED = [kind for kind, rollback in KINDS.items() if rollback == "bounded"]
UNDO = 7
SIZE = 512


class Bench:
    """A model with a context to try things on, and a second one that always reads from the beginning."""

    def __init__(self, path: Path, size: int = SIZE) -> None:
        self.model, self.size = Model(path), size
        self.tried = self.context()
        self._reference = self.context()

    def context(self, abort: Any = None, undo: int = UNDO) -> Context:
        abort = abort or AbortFlag()
        context = Context(self.model, size=self.size, threads=1, settings=EXACT, abort=abort, undo=undo)
        probe(context)
        return context

    def fresh(self, text: list[int]) -> Logits:
        """The logits behind ``text`` when it is read from the beginning."""
        self._reference.clear()
        read(self._reference, text[:-1])
        return self._reference.decode(text[-1:])[0].copy()

    def close(self) -> None:
        self.tried.close()
        self._reference.close()
        self.model.close()


def read(context: Context, tokens: list[int]) -> None:
    for start in range(0, len(tokens), context.chunk):
        context.decode(tokens[start : start + context.chunk], rows=0)


@pytest.fixture
def bench(kind_model: Callable[..., Path]) -> Iterator[Callable[..., Bench]]:
    opened: list[Bench] = []

    def open_kind(kind: str, **options: Any) -> Bench:
        opened.append(Bench(kind_model(kind), **options))
        return opened[-1]

    yield open_kind
    for bench in opened:
        bench.close()


def some_text(length: int, seed: int = 1) -> list[int]:
    return random.Random(seed).choices(range(3, 340), k=length)


@pytest.mark.parametrize(("kind", "rollback"), KINDS.items())
def test_the_kind_is_found_by_trying(bench: Callable[..., Bench], kind: str, rollback: str) -> None:
    context = bench(kind).tried
    assert context.rollback == rollback
    assert context.longest_undo == {"full": None, "bounded": UNDO, "none": 0}[rollback]
    assert (context.checkpoints is not None) == (rollback != "full")
    assert context.length == 0


@pytest.mark.parametrize("kind", BOUNDED)
def test_without_snapshots_a_bounded_model_is_one_that_cannot_go_back(bench: Callable[..., Bench], kind: str) -> None:
    context = bench(kind).context(undo=0)
    assert (context.rollback, context.longest_undo) == ("none", 0)
    context.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_read_and_taken_back_leaves_no_trace(bench: Callable[..., Bench], kind: str, seed: int) -> None:
    """A random walk of passes, rollbacks of any length and marks, as the loop and the next turns make them."""
    here = bench(kind)
    context, dice, text = here.tried, random.Random(seed), list[int]()
    for step in range(60):
        tokens = some_text(dice.choice([1, 1, 1, 2, 5, 8, 30]), seed=1000 * seed + step)
        if len(text) + len(tokens) > SIZE - 2:
            break
        context.decode(tokens, rows=0)
        text += tokens
        if dice.random() < 0.3:
            context.mark(passing=dice.random() < 0.5)
        if dice.random() < 0.6:
            keep = max(0, len(text) - dice.choice([0, 1, 2, 3, 5, 7, 8, 20, 100]))
            stopped_there = context.truncate(keep)
            assert stopped_there == (context.length == keep)
            assert context.length <= keep, "never more than was asked for"
            if KINDS[kind] == "full":
                assert stopped_there
            del text[context.length :]
        assert context.length == len(text)
        if step % 4 == 0:
            text.append(dice.randrange(3, 340))
            np.testing.assert_array_equal(context.decode(text[-1:])[0], here.fresh(text))


@pytest.mark.parametrize("kind", BOUNDED)
def test_all_but_the_first_token_of_a_pass_can_be_taken_back_once(bench: Callable[..., Bench], kind: str) -> None:
    here = bench(kind)
    context, text = here.tried, some_text(40)
    for back in range(UNDO + 1):
        context.clear()
        context.decode(text[:20], rows=0)
        context.decode(text[20 : 21 + UNDO], rows=0)
        assert context.truncate(21 + UNDO - back)
        assert context.length == 21 + UNDO - back
        remaining = [*text[: context.length], 77]
        np.testing.assert_array_equal(context.decode([77])[0], here.fresh(remaining))
    context.decode(text[:4], rows=0)
    assert context.truncate(context.length - 1)
    assert not context.truncate(context.length - 1), "a second time before the next pass it cannot"
    assert context.length == 0, "and without a mark nothing is left"


@pytest.mark.parametrize("kind", BOUNDED)
def test_the_library_accepts_what_it_cannot_do(bench: Callable[..., Bench], kind: str) -> None:
    """Why the context counts for itself. If this fails, a newer llama.cpp refuses or can do it: good news."""
    here = bench(kind)
    context, text = here.tried, some_text(24)
    context.decode(text[:20], rows=0)
    for token in text[20:]:  # single passes: each leaves one state, the older ones stem from the pass before
        context.decode([token], rows=0)
    L = library()
    assert L.llama_memory_seq_rm(L.llama_get_memory(context.handle), 0, 21, -1), "three tokens, and it says yes"
    context.length = 21
    assert not np.array_equal(context.decode([77])[0], here.fresh([*text[:21], 77]))
    context.clear()
    read(context, text)
    context.mark()
    for token in text:
        context.decode([token], rows=0)
    assert not context.truncate(len(text) + 21), "the context knows better"
    assert context.length == len(text)


@pytest.mark.parametrize("kind", STATES)
def test_a_mark_is_where_it_comes_back_to(bench: Callable[..., Bench], kind: str) -> None:
    here = bench(kind)
    context, text = here.tried, some_text(60)
    context.decode(text[:10], rows=0)
    context.mark()
    context.decode(text[10:30], rows=0)
    context.mark()
    for token in text[30:50]:
        context.decode([token], rows=0)
    assert not context.truncate(35)
    assert context.length == 30
    assert not context.truncate(29)
    assert context.length == 10
    np.testing.assert_array_equal(context.decode([77])[0], here.fresh([*text[:10], 77]))
    assert context.truncate(10), "the same mark again"
    assert not context.truncate(9)
    assert context.length == 0
    np.testing.assert_array_equal(context.decode([77])[0], here.fresh([77]))


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_mark_of_a_text_that_went_on_differently_is_forgotten(bench: Callable[..., Bench], kind: str) -> None:
    here = bench(kind)
    context, text, other = here.tried, some_text(30), some_text(30, seed=2)
    context.decode(text[:20], rows=0)
    context.decode(text[20:26], rows=0)
    context.mark()
    assert context.truncate(22), "taken back by the library, without the mark"
    for token in other[22:]:
        context.decode([token], rows=0)
    context.truncate(27)
    assert context.length == 0, "the mark at 26 knew another text"


def test_a_prefix_older_than_the_window_is_reused_as_if_read_anew(bench: Callable[..., Bench]) -> None:
    """Sliding window: the cells that fell out of the window are still there, because the cache is kept whole. The
    text is longer than a ring of the window and a chunk would be."""
    here = bench("gemma3", size=1536)
    context, text = here.tried, some_text(1400)
    read(context, text)
    for keep in (1300, 700, 300, 2 * WINDOW, WINDOW + 1, WINDOW, 10, 1):
        assert context.truncate(keep)
        other = some_text(5, seed=keep)
        rows = context.decode(other)[-1].copy()
        np.testing.assert_array_equal(rows, here.fresh([*text[:keep], *other]))
        assert context.truncate(keep)


class AbortAt:
    """Like AbortFlag, but cuts a pass at its n-th graph node: always at the same place, in the middle."""

    def __init__(self) -> None:
        self.node = self.nodes = 0
        self.callback = library().ggml_abort_callback(self._asked)
        self.data = None

    def _asked(self, _data: Any) -> bool:
        self.nodes += 1
        return self.nodes == self.node


@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_cut_off_in_the_middle_leaves_no_trace(bench: Callable[..., Bench], kind: str) -> None:
    here = bench(kind)
    abort, text = AbortAt(), some_text(40)
    context = here.context(abort=abort)
    read(context, text[:20])
    abort.nodes = 0
    context.decode(text[20:24], rows=0)
    nodes = abort.nodes
    assert nodes > 8
    for node in range(1, nodes + 1, 5):
        context.clear()
        context.decode(text[:20], rows=0)
        context.mark()
        context.decode(text[20:24], rows=0)
        abort.node, abort.nodes = node, 0
        with pytest.raises(DecodeAborted):
            context.decode(text[24:28], rows=0)
        abort.node = 0
        assert context.length == (24 if KINDS[kind] == "full" else 20), "a running state goes back to its mark"
        read(context, text[context.length : 30])
        np.testing.assert_array_equal(context.decode([77])[0], here.fresh([*text[:30], 77]))
    context.close()


def test_marks_spread_over_the_text_within_their_limits(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = bench("mamba").tried
    monkeypatch.setattr(checkpoints, "MOST_COPIES", 4)
    for _ in range(40):
        context.decode(some_text(10), rows=0)
        context.mark()
    assert context.checkpoints is not None
    kept = context.checkpoints.lengths()
    assert len(kept) == 4
    assert kept[-1] == 400, "the newest always stays"
    assert kept[0] <= 200, "and not only the newest ones"
    monkeypatch.setattr(checkpoints, "MOST_BYTES", 1)
    context.decode(some_text(10), rows=0)
    context.mark()
    assert context.checkpoints.lengths() == [410], "one is always allowed"
    context.mark(every=50)
    context.decode(some_text(10), rows=0)
    context.mark(every=50)
    assert context.checkpoints.lengths() == [410], "too near"


def test_a_passing_mark_gives_way_to_the_next(bench: Callable[..., Bench]) -> None:
    context = bench("mamba").tried
    context.decode(some_text(10), rows=0)
    context.mark()
    for _ in range(3):
        context.decode(some_text(5), rows=0)
        context.mark(passing=True)
    assert context.checkpoints is not None
    assert context.checkpoints.lengths() == [10, 25]
    context.truncate(25)
    context.truncate(12)
    assert context.checkpoints.lengths() == [10]


@pytest.mark.parametrize("call", ["llama_state_seq_get_data_ext", "llama_state_seq_set_data_ext"])
def test_a_copy_that_fails_costs_time_and_nothing_else(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    here = bench("jamba")
    context, text = here.tried, some_text(30)
    read(context, text[:20])
    monkeypatch.setattr(library(), call, lambda *arguments: 0)
    context.mark()
    read(context, text[20:])
    assert not context.truncate(25)
    assert context.length == 0
    np.testing.assert_array_equal(context.decode([77])[0], here.fresh([77]))
    probe(context)
    assert context.checkpoints is None, "and at load it is found out"


def test_a_rollback_that_is_refused_is_noticed(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    context = bench("gemma3").tried
    read(context, some_text(20))
    monkeypatch.setattr(library(), "llama_memory_seq_rm", lambda *arguments: False)
    assert not context.truncate(10)
    assert context.length == 0
    monkeypatch.setattr(library(), "llama_memory_seq_rm", lambda *arguments: True)
    read(context, some_text(20))
    assert not context.truncate(10), "it says yes, and the tokens are still there"
    assert context.length == 0


def test_a_pass_too_wide_is_refused_before_the_library_asserts(bench: Callable[..., Bench]) -> None:
    context = bench("lfm2").tried
    with pytest.raises(ContextError, match="does not fit"):
        context.decode([5] * (context.chunk + 1))
