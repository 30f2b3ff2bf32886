"""The speed over an answer: bounded, and never zero where something was made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.counting import Counter
from engine.pace import MOST, Pace
from engine.stats import FIGURES, Stats

PASSES = st.lists(st.tuples(st.integers(1, 9), st.floats(0.001, 5)), max_size=400)


@given(PASSES)
def test_any_number_of_passes_gives_at_most_64_rates_between_the_slowest_and_the_fastest(
    passes: list[tuple[int, float]],
) -> None:
    pace = Pace()
    for tokens, seconds in passes:
        pace.count(tokens, seconds)
    rates = pace.rates()
    assert len(rates) == min(len(passes), len(rates)) <= MOST
    if passes:
        each = [tokens / seconds for tokens, seconds in passes]
        assert min(each) - 0.01 <= min(rates)
        assert max(rates) <= max(each) + 0.01


def test_each_pass_is_a_stretch_until_there_are_too_many() -> None:
    pace = Pace()
    for number in range(MOST):
        pace.count(number + 1, 1.0)
    assert pace.rates() == tuple(float(number + 1) for number in range(MOST))
    pace.count(100, 1.0)
    assert pace.rates() == (*(number + 0.5 for number in range(1, MOST + 1, 2)), 100.0)


def test_a_joined_stretch_is_tokens_over_seconds_and_not_the_mean_of_rates() -> None:
    pace = Pace()
    for number in range(MOST + 1):
        pace.count(1, 1.0 if number % 2 else 3.0)
    assert set(pace.rates()[:-1]) == {0.5}


def test_the_counter_counts_it_and_old_figures_have_none() -> None:
    counter = Counter()
    counter.count_round(10, 0, 1, 0.5, draft=0.0, choose=0.0)
    counter.count_round(11, 3, 4, 0.5, draft=0.1, choose=0.0)
    assert counter.snapshot().pace == (2.0, 8.0)
    assert Stats.model_validate_json('{"output_tokens": 3}').pace == ()


def test_a_pass_that_took_no_time_at_all_has_no_speed() -> None:
    pace = Pace()
    pace.count(1, 0.0)
    assert pace.rates() == ()


def test_who_proposed_is_said_in_one_order() -> None:
    counter = Counter()
    assert counter.snapshot().proposed_by == ()
    counter.count_draft("draft", 4, 2, stopped=False)
    assert counter.snapshot().proposed_by == ("draft",)
    counter.count_draft("lookup", 1, 1, stopped=False)
    assert counter.snapshot().proposed_by == ("lookup", "draft")


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_every_definition_is_of_a_figure(name: str) -> None:
    assert hasattr(Stats(), name)
    assert "\n" not in FIGURES[name]
