"""Speed-up: only from plain passes that were measured, and at similar context lengths."""

import pytest

from engine.baseline import EVIDENCE, AnswerTimes, PlainSpeed
from engine.stats import Counter


def plain_at(*lengths: int, seconds: float = 0.010, passes: int = EVIDENCE) -> PlainSpeed:
    plain = PlainSpeed()
    for length in lengths:
        for _ in range(passes):
            plain.observe(length, seconds)
    return plain


def test_an_answer_that_took_half_the_plain_time_was_twice_as_fast() -> None:
    times = AnswerTimes()
    for i in range(10):
        times.add(100 + 2 * i, 2, 0.010)
    assert times.against(plain_at(100)) == pytest.approx(2.0)


def test_nothing_is_said_without_measurements() -> None:
    times = AnswerTimes()
    times.add(100, 2, 0.010)
    assert times.against(PlainSpeed()) is None
    assert times.against(plain_at(100, passes=EVIDENCE - 1)) is None
    assert AnswerTimes().against(plain_at(100)) is None


def test_other_context_lengths_say_nothing() -> None:
    times = AnswerTimes()
    times.add(3000, 2, 0.010)
    assert times.against(plain_at(100)) is None


def test_the_spans_on_both_sides_help_out() -> None:
    times = AnswerTimes()
    times.add(300, 2, 0.010)
    assert times.against(plain_at(200, 600, passes=EVIDENCE // 2)) == pytest.approx(2.0)


def test_each_token_is_held_against_its_own_context_length() -> None:
    plain = plain_at(100, seconds=0.010)
    for _ in range(EVIDENCE):
        plain.observe(5000, 0.030)
    times = AnswerTimes()
    times.add(100, 1, 0.010)
    times.add(5000, 1, 0.010)
    assert times.against(plain) == pytest.approx(2.0)


def test_most_of_the_answer_must_be_covered() -> None:
    times = AnswerTimes()
    times.add(100, 8, 0.010)
    times.add(5000, 2, 0.010)
    assert times.against(plain_at(100)) is None
    times.add(100, 12, 0.010)
    assert times.against(plain_at(100)) is not None


def test_a_pass_that_was_held_up_does_not_flatter() -> None:
    plain = plain_at(100, passes=9)
    plain.observe(100, 1.0)
    times = AnswerTimes()
    times.add(100, 1, 0.010)
    assert times.against(plain) == pytest.approx(1.0)


def test_the_latest_passes_count_so_that_the_load_of_the_moment_does() -> None:
    plain = plain_at(100, seconds=0.010, passes=100)
    for _ in range(100):
        plain.observe(100, 0.020)
    times = AnswerTimes()
    times.add(100, 1, 0.020)
    assert times.against(plain) == pytest.approx(1.0)


def test_the_counter_measures_plain_rounds_without_the_search_for_a_draft() -> None:
    counter = Counter()
    for _ in range(EVIDENCE):
        counter.count_round(100, 0, 1, 0.011, 0.001)
    assert counter.snapshot().speedup is None  # nothing was drafted: this is plain decoding
    counter.count_round(104, 3, 4, 0.020, 0.002)
    counter.count_draft("lookup", 3, 3, stopped=False)
    took = EVIDENCE * 0.011 + 0.020
    assert counter.snapshot().speedup == pytest.approx((EVIDENCE + 4) * 0.010 / took)
