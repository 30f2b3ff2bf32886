"""The benchmark's arithmetic: means, intervals, orders, loops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.figures import against_best, alternating, estimate, fork, geometric_mean, loops


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    assert geometric_mean([4.0, 1.0]) == pytest.approx(2.0)


def test_every_category_weighs_the_same_however_many_ratios_it_has() -> None:
    found = estimate([[2.0] * 9, [0.5]])
    assert found is not None
    assert found.value == pytest.approx(1.0)
    assert found.count == 10


def test_the_interval_holds_the_mean_and_shrinks_with_more_ratios() -> None:
    few, many = estimate([[0.9, 1.1]]), estimate([[0.9, 1.1] * 50])
    assert few is not None
    assert many is not None
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low <= few.value <= few.high
    assert many.high - many.low < (few.high - few.low) / 3


def test_the_interval_is_the_same_every_time() -> None:
    assert estimate([[0.9, 1.0, 1.3]]) == estimate([[0.9, 1.0, 1.3]])


def test_one_ratio_has_no_interval() -> None:
    found = estimate([[0.77]])
    assert found is not None
    assert (found.low, found.high, str(found)) == (None, None, "0.77")
    best = against_best([[1.5, 1.0]])
    assert best is not None
    assert (best[1].low, best[1].high) == (None, None)


@pytest.mark.parametrize("groups", [[[0.77], [0.64]], [[0.77], [0.64, 0.65]]])
def test_where_groups_have_one_ratio_what_lies_between_them_counts(groups: list[list[float]]) -> None:
    found = estimate(groups)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.64, 0.77), abs=0.006)


def test_nothing_measured_is_no_estimate() -> None:
    assert estimate([]) is None
    assert estimate([[]]) is None
    assert against_best([]) is None


def test_the_interval_of_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    import numpy as np

    random = np.random.default_rng(7)
    hits = 0
    for seed in range(200):
        found = estimate([list(np.exp(random.normal(0.1, 0.2, 20)))], resamples=300, seed=seed)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= np.exp(0.1) <= found.high
    assert 0.88 <= hits / 200 <= 0.99


def test_against_the_best_of_several() -> None:
    found = against_best([[1.5, 1.0], [1.6, 0.9], [1.4, 1.1]])
    assert found is not None
    column, one = found
    assert column == 1
    assert one.value == pytest.approx(geometric_mean([1.0, 0.9, 1.1]))


def test_two_variants_alternate_as_abba() -> None:
    assert alternating("AB", 0, 0) == ["A", "B"]
    assert alternating("AB", 0, 1) == ["B", "A"]
    assert alternating("AB", 1, 0) == ["B", "A"]
    assert alternating("AB", 1, 1) == ["A", "B"]


@given(st.integers(1, 7), st.integers(0, 30), st.integers(0, 9))
def test_an_order_is_a_permutation(count: int, index: int, repetition: int) -> None:
    items = list(range(count))
    assert sorted(alternating(items, index, repetition)) == items


def test_over_the_prompts_every_variant_is_first_equally_often() -> None:
    firsts = [alternating("ABCDE", index, 0)[0] for index in range(25)]
    assert {name: firsts.count(name) for name in "ABCDE"} == dict.fromkeys("ABCDE", 5)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([5] * 32, True),
        ([5] * 31, False),
        ([*range(60), *[1, 2, 3] * 11], True),
        ([*range(60), *[1, 2, 3] * 11, 99], False),
        ([*range(100), *list(range(30)) * 3], True),
        ([*range(100), *list(range(30)) * 2], False),
        (list(range(33)) * 4, False),
        (list(range(128)), False),
        ([], False),
    ],
)
def test_loops(tokens: list[int], expected: bool) -> None:
    assert loops(tokens) is expected


def test_where_two_answers_part() -> None:
    assert fork([1, 2, 3], [1, 2, 3]) is None
    assert fork([1, 2, 3], [1, 5, 3]) == 1
    assert fork([1, 2], [1, 2, 3]) == 2
