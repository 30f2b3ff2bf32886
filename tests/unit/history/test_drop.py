"""A drop is pointed out with the cause that was measured, and nobody cries wolf."""

from __future__ import annotations

import pytest

from app.history.drop import judge
from app.history.past import Mode, PastAnswer
from tests.unit.history.answers import SETUP, past, steady

NEW = 1000


def words(answer: PastAnswer, earlier: list[PastAnswer]) -> str:
    verdict = judge(answer, earlier, processors=2)
    assert verdict is not None
    return verdict.words


def test_the_load_of_other_programs_comes_first() -> None:
    answer = past(NEW, 12.0, other_cores=1.7, context=9000, setup={**SETUP, "the number of threads": "1"})
    assert words(answer, steady()) == "12 tok/s, usually 19 here: other programs used 85 % of the processors"


def test_load_that_is_usual_here_is_no_cause() -> None:
    answer = past(NEW, 12.0, other_cores=1.0)
    assert words(answer, steady(other_cores=0.9)).endswith("the cause was not measured")


def test_a_longer_conversation_is_named_where_there_are_none_like_it() -> None:
    answer = past(NEW, 12.0, context=6100)
    expected = "12 tok/s, usually 19 here: the conversation is longer, 6,100 tokens instead of 400"
    assert words(answer, steady()) == expected


def test_a_context_that_is_similar_and_much_longer_is_named_before_nothing_is() -> None:
    earlier = steady(8, context=128)
    told = judge(past(NEW, 12.0, context=488), earlier)
    assert told is not None
    assert told.words == ("12 tok/s, usually 19 here: the conversation is longer, 488 tokens instead of 128")
    other = judge(past(NEW, 12.0, context=488, setup={**SETUP, "the number of threads": "1"}), earlier)
    assert other is not None
    assert other.cause is not None
    assert other.cause.kind == "setup", "a likelier cause than a few hundred tokens"
    for little in (250, 383):
        told = judge(past(NEW, 12.0, context=little), earlier)
        assert told is not None
        assert told.cause is not None
        assert told.cause.kind == "unknown"


def test_with_enough_long_conversations_only_those_count() -> None:
    earlier = [*steady(8, 12.5, context=6000), *steady(8, 19.0)]
    verdict = judge(past(NEW, 12.0, context=6100), earlier)
    assert verdict is not None
    assert (verdict.cause, verdict.count) == (None, 8)
    assert verdict.words == ""


@pytest.mark.parametrize(
    ("name", "now", "said"),
    [
        ("the number of threads", "1", "the number of threads is 1 and was 2"),
        ("llama-cpp-python", "0.3.40", "llama-cpp-python is 0.3.40 and was 0.3.36"),
        ("the build of llama.cpp", "ffff", "the cause was not measured"),  # nobody had written down the one before
    ],
)
def test_another_build_or_other_settings(name: str, now: str, said: str) -> None:
    assert words(past(NEW, 12.0, setup={**SETUP, name: now}), steady()) == f"12 tok/s, usually 19 here: {said}"


def test_what_was_otherwise_in_many_of_them_explains_nothing() -> None:
    one = {**SETUP, "the number of threads": "1"}
    earlier = [*steady(5), *[past(number, 19.0, setup=one) for number in range(20, 25)]]
    assert words(past(NEW, 12.0, setup=one), earlier).endswith("the cause was not measured")


def test_without_a_cause_it_says_so() -> None:
    assert words(past(NEW, 5.25), steady()) == "5.2 tok/s, usually 19 here: the cause was not measured"


def test_a_loss_of_less_than_a_third_is_none() -> None:
    verdict = judge(past(NEW, 14.0), steady())
    assert verdict is not None
    assert verdict.cause is None


def test_a_history_that_spreads_widely_is_not_left_by_its_slow_end() -> None:
    rates = (60.0, 20.0, 55.0, 22.0, 40.0, 30.0, 58.0, 25.0)
    verdict = judge(past(NEW, 18.0), [past(number, rate) for number, rate in enumerate(rates)])
    assert verdict is not None
    assert verdict.cause is None


@pytest.mark.parametrize(
    "earlier",
    [
        steady(4),
        steady(8, tokens=31),
        steady(8, mode=Mode("auto", exact=False)),
        steady(8, mode=Mode("off", exact=True)),
        steady(8, marks=("another file", "")),
        [past(NEW + 1 + number, 19.0) for number in range(8)],
    ],
    ids="few short fast off file later".split(),
)
def test_nothing_is_said_without_five_like_it(earlier: list[PastAnswer]) -> None:
    assert judge(past(NEW, 5.0), earlier) is None


def test_a_short_answer_is_not_judged() -> None:
    assert judge(past(NEW, 5.0, tokens=31), steady()) is None
