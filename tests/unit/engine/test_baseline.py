"""Speed-up: only from plain passes near by, in time and in context length."""

import pytest

from engine.baseline import EVIDENCE, FRESH, SHORTEST, AgainstPlain, PlainSpeed
from engine.counting import Counter


def plain_at(*lengths: int, now: float = 0.0, seconds: float = 0.010, passes: int = EVIDENCE) -> PlainSpeed:
    plain = PlainSpeed()
    for length in lengths:
        for _ in range(passes):
            plain.observe(now, length, seconds)
    return plain


def drafted(plain: PlainSpeed, *, now: float = 0.0, length: int = 100, seconds: float = 0.010) -> AgainstPlain:
    """An answer of SHORTEST tokens in drafted passes of two tokens each."""
    answer = AgainstPlain(plain)
    for _ in range(SHORTEST // 2):
        answer.drafted_round(now, length, 2, seconds, draft=0.0, choose=0.0)
    return answer


def test_two_tokens_in_the_time_of_a_plain_one_are_twice_as_fast() -> None:
    assert drafted(plain_at(100)).factor == pytest.approx(2.0)


def test_nothing_is_said_without_measurements() -> None:
    assert drafted(PlainSpeed()).factor is None
    assert drafted(plain_at(100, passes=EVIDENCE - 1)).factor is None
    assert AgainstPlain(plain_at(100)).factor is None


def test_a_short_answer_has_no_factor() -> None:
    answer = AgainstPlain(plain_at(100))
    answer.drafted_round(0.0, 100, SHORTEST - 1, 0.010, draft=0.0, choose=0.0)
    assert answer.factor is None


def test_other_context_lengths_say_nothing_but_the_next_spans_do() -> None:
    assert drafted(plain_at(100), length=3000).factor is None
    assert drafted(plain_at(300), length=200).factor == pytest.approx(2.0)


def test_plain_passes_of_a_while_ago_say_nothing() -> None:
    assert drafted(plain_at(100), now=FRESH + 1).factor is None


def test_a_load_that_came_and_went_is_no_merit_of_the_drafter() -> None:
    """Plain passes beside a busy neighbour, then quiet ones; drafting costs as much as it brings throughout."""
    answer = AgainstPlain(PlainSpeed())
    for i in range(20):
        answer.plain_round(i * 0.04, 100, 0.040, draft=0.0, choose=0.0)
    for i in range(20):
        answer.plain_round(1 + i * 0.01, 100, 0.010, draft=0.0, choose=0.0)
    for i in range(5):
        answer.drafted_round(1.3 + i * 0.02, 100, 2, 0.020, draft=0.0, choose=0.0)
    assert answer.factor == pytest.approx(1.0)


def test_a_factor_is_never_above_the_tokens_per_pass() -> None:
    slow_then_quiet = plain_at(100, seconds=0.040)
    assert drafted(slow_then_quiet, seconds=0.010).factor == pytest.approx(2.0)  # not 8


def test_the_search_for_a_draft_is_charged_to_drafting() -> None:
    answer = AgainstPlain(PlainSpeed())
    for _ in range(SHORTEST):
        answer.plain_round(0.0, 100, 0.011, draft=0.001, choose=0.0)
    assert answer.factor == pytest.approx(10 / 11)


def test_the_dearer_pass_behind_a_drafted_one_is_charged_to_drafting() -> None:
    answer = AgainstPlain(plain_at(100, passes=7))
    for _ in range(SHORTEST):
        answer.drafted_round(0.0, 100, 1, 0.010, draft=0.0, choose=0.0)
        answer.plain_round(0.0, 100, 0.015, draft=0.0, choose=0.0)
    assert answer.factor == pytest.approx(20 / 25)


def test_dear_samplers_of_an_earlier_answer_do_not_count() -> None:
    plain = PlainSpeed()
    earlier = AgainstPlain(plain)
    for _ in range(EVIDENCE):
        earlier.plain_round(0.0, 100, 0.014, draft=0.0, choose=0.004)
    assert drafted(plain).factor == pytest.approx(2.0)


def test_most_of_the_answer_must_be_covered() -> None:
    answer = drafted(plain_at(100))
    answer.drafted_round(0.0, 5000, 4, 0.010, draft=0.0, choose=0.0)
    assert answer.factor is None
    for _ in range(20):
        answer.drafted_round(0.0, 100, 2, 0.010, draft=0.0, choose=0.0)
    assert answer.factor == pytest.approx(2.0)


def test_plain_decoding_has_no_factor() -> None:
    counter = Counter(clock=lambda: 0.0)
    for _ in range(SHORTEST):
        counter.count_round(100, 0, 1, 0.010, draft=0.0, choose=0.0)
    assert counter.snapshot().speedup is None
    counter.count_round(104, 3, 4, 0.020, draft=0.0, choose=0.0)
    counter.count_draft("lookup", 3, 3, stopped=False)
    assert counter.snapshot().speedup == pytest.approx((SHORTEST + 4) * 0.010 / (SHORTEST * 0.010 + 0.020))
