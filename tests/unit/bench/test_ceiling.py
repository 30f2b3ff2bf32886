"""The most that lookup could gain, on answers small enough to count by hand."""

import pytest

from engine.drafters.lookup import LookupDrafter
from tests.bench.ceiling import ceiling, right_proposals

FLAT = [1.0] * 16
STEEP = [float(n) for n in range(1, 17)]


def test_what_holds_is_counted_place_by_place() -> None:
    assert right_proposals([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], 3) == [2, 1, 0]


def test_free_passes_give_a_token_for_every_right_proposal() -> None:
    assert ceiling([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], FLAT) == pytest.approx(3.0)


def test_passes_that_cost_what_they_cover_give_nothing() -> None:
    assert ceiling([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], STEEP) == pytest.approx(1.0)


def test_the_lengths_are_the_best_ones() -> None:
    cheap_only_at_three = [1.0, 5.0, 1.2, 5.0]
    assert ceiling([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], cheap_only_at_three) == pytest.approx(3 / 1.2)


def test_text_that_never_repeats_gains_nothing() -> None:
    assert ceiling(list(range(50)), list(range(100, 150)), FLAT) == pytest.approx(1.0)
    assert ceiling([1, 2], [], FLAT) == 1.0


def test_no_fixed_length_gets_past_it() -> None:
    prompt, answer = [1, 2, 3, 4, 5, 6, 7, 9, 1, 2], [3, 4, 5, 0, 1, 2, 3, 4, 5, 6]
    verify = [1.0, 1.3, 1.5, 1.8, 2.0]
    most = ceiling(prompt, answer, verify)
    for length in range(1, 5):
        lookup, history, spent = LookupDrafter(), list(prompt), 0.0
        lookup.begin(history)
        end = len(prompt) + len(answer)
        while len(history) < end:
            proposed = lookup.draft(history, length).tokens
            spent += verify[len(proposed)]
            rest = answer[len(history) - len(prompt) :]
            right = next((i for i, one in enumerate(proposed) if i >= len(rest) or one != rest[i]), len(proposed))
            history += rest[: right + 1]
        assert len(answer) * verify[0] / spent <= most + 1e-9
