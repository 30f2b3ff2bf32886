"""The cost model on numbers that can be checked by hand."""

from __future__ import annotations

import pytest

from app.score.gain import break_even, gain, gains

FREE = {1: 1.0, 2: 1.0, 3: 1.0, 5: 1.0}
DEAR = {1: 1.0, 2: 1.97, 3: 2.1, 4: 2.4, 5: 3.1}


def test_a_certain_draft_that_costs_nothing_multiplies() -> None:
    assert gain(FREE, 0.0, [1.0], 2) == 3.0
    assert gain(FREE, 0.0, [1.0], 4) == 5.0
    assert gain(FREE, 0.5, [1.0], 2) == 1.5


def test_acceptance_multiplies_from_place_to_place() -> None:
    assert gain(DEAR, 0.0, [0.8, 0.5], 2) == pytest.approx((1 + 0.8 + 0.4) / 2.1)
    assert gain(DEAR, 0.0, [0.8], 2) == pytest.approx((1 + 0.8 + 0.64) / 2.1)


def test_what_was_not_measured_is_not_made_up() -> None:
    assert gain(FREE, 0.0, [1.0], 3) is None
    assert gain(FREE, 0.0, [], 1) is None
    assert [length for length, _ in gains(FREE, 0.0, [1.0])] == [0, 1, 2, 4]


def test_break_even_is_where_the_gain_is_one() -> None:
    found = break_even({1: 1.0, 2: 1.2}, 0.1)
    assert found is not None
    assert found[0] == pytest.approx(0.3)
    assert found[1] == 1
    share, length = break_even(DEAR, 0.0) or (0.0, 0)
    assert gain(DEAR, 0.0, [share], length) == pytest.approx(1.0)


def test_a_draft_that_costs_as_much_as_the_target_never_pays() -> None:
    assert break_even({1: 1.0, 2: 1.5, 3: 2.0}, 1.0) is None
