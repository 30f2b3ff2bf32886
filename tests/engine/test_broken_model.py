"""A model that calculates NaN, as a damaged file does: the answer ends there, in words, whoever drafts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.protocol import ErrorCode, Event, Failed, Replay, Sampling
from engine.sampling import Chooser
from tests.engine.conftest import Driver
from tests.engine.on_paper import LETTERS, MODES, Scripted, deltas
from tests.fixtures.scripted import Script

AT = 9
"""Place in the chain behind which nothing is a number."""

WORDS = (
    "The model calculated no usable figures for its next token (NaN or infinite), as damaged or badly converted files "
    "do. What arrived so far is kept; check the file, get it again, or choose another model."
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(temperature=0.8), Sampling(top_k=0)])
def test_the_answer_ends_where_the_numbers_do_and_what_was_said_is_kept(
    driver: Driver, say: Callable[..., Script], scripted: Scripted, mode: Any, sampling: Sampling
) -> None:
    say(LETTERS, broken_at=AT, draft=scripted(LETTERS).path)
    failed = driver.try_ask("hello", speculation=mode, sampling=sampling, seed=1, draft_max=7)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.BROKEN_MODEL
    assert failed.message == WORDS
    assert "".join(delta.text for delta in deltas(driver)) == "".join(LETTERS[: AT + 1])
    assert driver.session.pair is not None
    assert driver.session.pair.cached == []
    assert driver.session.pair.target.context.length == 0, "no later answer begins with what was calculated"


def test_what_was_held_back_is_shown_when_a_pass_fails(driver: Driver, say: Callable[..., Script]) -> None:
    """A stop string that has begun is kept back until it is sure that it does not end."""
    say(LETTERS, broken_at=AT)
    stop = "".join(LETTERS[AT - 1 : AT + 2])
    failed = driver.try_ask("hello", stop=(stop,))
    assert isinstance(failed, Failed)
    assert "".join(delta.text for delta in deltas(driver)) == "".join(LETTERS[: AT + 1])


def test_a_broken_draft_costs_time_and_nothing_else(
    driver: Driver, say: Callable[..., Script], scripted: Scripted
) -> None:
    script = say(LETTERS, draft=scripted(LETTERS, broken_at=AT).path)
    for mode in MODES:
        for sampling in (Sampling(temperature=0), Sampling(temperature=0.8), Sampling(top_k=0)):
            answer = driver.ask("hello", speculation=mode, sampling=sampling, seed=1)
            assert answer.token_ids == script.ids


def test_a_replay_on_a_broken_model_ends_in_words(driver: Driver, say: Callable[..., Script]) -> None:
    script = say(LETTERS, broken_at=AT)
    events: list[Event] = []
    request = Replay(id=9, prompt_ids=(1, 5), token_ids=script.ids, sampling=Sampling(temperature=0), seed=1)
    driver.session.replay(request, events.append)
    last = events[-1]
    assert isinstance(last, Failed)
    assert (last.code, last.message) == (ErrorCode.BROKEN_MODEL, WORDS)


@pytest.mark.parametrize("size", [24, 40_000])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0),
        Sampling(temperature=0.8),
        Sampling(temperature=0.8, top_k=0),
        Sampling(temperature=0.8, typical_p=0.5),
        Sampling(temperature=0.8, top_n_sigma=1),
        Sampling(temperature=0.8, repeat_penalty=1.5, dry_multiplier=0.8),
    ],
)
def test_a_choice_among_no_numbers_falls_on_none(size: int, value: float, sampling: Sampling) -> None:
    """What the loop looks at: the figure of the token that was chosen."""
    row = np.full(size, value, np.float32)
    assert not np.isfinite(row[Chooser(size, sampling, 1, prompt=[1]).choose(row, 1)])


@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(top_k=0), Sampling(top_k=0, typical_p=0.5)])
def test_a_single_one_is_found_where_all_are_looked_at(sampling: Sampling) -> None:
    for value in (np.nan, np.inf):
        row = np.arange(500, dtype=np.float32) / 100
        row[77] = value
        assert Chooser(500, sampling, 1).choose(row, 1) == 77
