"""The beginning of an answer as it is told: its receipt first, and with each token how much text it completes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.protocol import AnswerSoFar, Started, TextDelta
from tests.engine.conftest import Driver
from tests.fixtures.scripted import Script

Scripted = Callable[..., Script]

WORDS = [f"word{number} " for number in range(20)]


def started(driver: Driver) -> Started:
    found = [event for event in driver.events if isinstance(event, Started)]
    assert [found[0]] == found == driver.events[:1], "once, and before anything else"
    return found[0]


def test_the_receipt_comes_first(driver: Driver, scripted: Scripted) -> None:
    driver.load(scripted(WORDS).path, context=512)
    answer = driver.ask("hello", speculation="lookup", temperature=0.8, stop=("word9",))
    begun = started(driver).receipt
    assert answer.receipt is not None
    later = {
        "passes": answer.receipt.passes,
        "text_lengths": answer.receipt.text_lengths,
        "notes": answer.receipt.notes,
    }
    assert begun.text_lengths == ()
    assert begun.passes == ""
    assert begun.model_copy(update={**later, "created": answer.receipt.created}) == answer.receipt


def test_what_was_told_of_an_answer_is_enough_to_go_on_with_it(
    driver: Driver, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is cut off: tokens with all their text, the seed, and what comes then is what would have come."""
    monkeypatch.setattr("engine.answer.TEXT_INTERVAL", 0.0)
    driver.load(scripted(WORDS).path, context=512)
    whole = driver.ask("hello", temperature=0.8)
    begun = started(driver).receipt
    deltas = [event for event in driver.events if isinstance(event, TextDelta)]
    assert len(deltas) > len(WORDS) // 2
    for count in range(1, len(deltas)):
        told = deltas[:count]
        ids = tuple(token for delta in told for token in delta.token_ids)
        text = "".join(delta.text for delta in told)
        assert sum(sum(delta.completed) for delta in told) == len(text)
        so_far = AnswerSoFar(token_ids=ids, text=text)
        rest = driver.ask("hello", temperature=0.8, seed=begun.seed, answer_so_far=so_far)
        assert text + rest.text == whole.text


def test_the_lengths_of_the_pieces_are_those_of_the_receipt(driver: Driver, scripted: Scripted) -> None:
    driver.load(scripted(["a ", "é", "<", "b "]).path, context=512)
    answer = driver.ask("hello", stop=("<b!",))
    deltas = [event for event in driver.events if isinstance(event, TextDelta)]
    assert answer.receipt is not None
    assert tuple(count for delta in deltas for count in delta.completed) == answer.receipt.text_lengths
    assert tuple(token for delta in deltas for token in delta.token_ids) == answer.token_ids
