"""Thinking, through the engine: switched by the request, told to the chat, marked in the text."""

from __future__ import annotations

from typing import Any

import pytest

from engine.protocol import AnswerSoFar, Finished, Prefilling, Started, ThoughtMarkers
from engine.text.thoughts import split_thoughts
from tests.engine.conftest import Driver
from tests.engine.on_paper import CONTROLS, LETTERS, MODES, TEMPLATE, Scripted
from tests.fixtures.scripted import Control

SWITCH = TEMPLATE + "{{ '<think></think>' if enable_thinking is defined and not enable_thinking else '<think>\n' }}"
HIDDEN = TEMPLATE + "{# [THINK] [/THINK] #}"


def prompt_text(driver: Driver, answer: Finished) -> str:
    assert driver.session.pair is not None
    assert answer.receipt is not None
    return driver.session.pair.target.model.vocabulary.join(answer.receipt.prompt_ids).decode()


def test_thinking_is_switched_and_the_chat_knows_before_the_first_word(driver: Driver, scripted: Scripted) -> None:
    pair = driver.load(scripted(LETTERS, chat_template=SWITCH, extra_controls=CONTROLS).path, context=512)
    assert pair.template.thinking == "switchable"
    assert pair.template.markers == (ThoughtMarkers(open="<think>", close="</think>"),)
    for thinking, inside in ((None, True), (True, True), (False, False)):
        answer = driver.ask("hello", thinking=thinking, max_tokens=3)
        assert answer.receipt is not None
        assert prompt_text(driver, answer).endswith("<think>\n" if inside else "<think></think>")
        assert answer.receipt.starts_in_thought == inside
        assert answer.receipt.settings.thinking is thinking
        reads = [event.starts_in_thought for event in driver.events if isinstance(event, Prefilling)]
        assert set(reads) == {inside}
        assert [type(event) for event in driver.events[:2]] == [Started, Prefilling]


def test_a_continued_answer_still_starts_where_the_whole_one_does(driver: Driver, scripted: Scripted) -> None:
    chain = ["hm ", "so ", "</think>", "yes ", "no "]
    driver.load(scripted(chain, chat_template=SWITCH, extra_controls=CONTROLS).path, context=512)
    part = driver.ask("hello", max_tokens=4)
    rest = driver.ask("hello", answer_so_far=AnswerSoFar(token_ids=part.token_ids))
    assert rest.receipt is not None
    assert rest.receipt.starts_in_thought, "of the whole answer, its old part included"
    parts = split_thoughts(part.text + rest.text, rest.receipt.template.markers, rest.receipt.starts_in_thought)
    assert parts == [("thought", "hm so"), ("said", "yes no ")]


def test_a_wish_that_cannot_be_met_stands_in_the_receipt(driver: Driver, scripted: Scripted) -> None:
    driver.load(scripted(LETTERS, chat_template=TEMPLATE, extra_controls=CONTROLS).path, context=512)
    answer = driver.ask("hello", thinking=True, max_tokens=1)
    assert answer.receipt is not None
    assert "thinking was asked for, but the chat template knows none" in answer.receipt.notes


@pytest.mark.parametrize("mode", MODES)
def test_markers_that_are_control_tokens_are_shown(driver: Driver, scripted: Scripted, mode: Any) -> None:
    chain = [Control("[THINK]"), "hm ", Control("[/THINK]"), "yes ", Control("<|other|>"), "no "]
    script = scripted(chain, chat_template=HIDDEN, extra_controls=CONTROLS)
    pair = driver.load(script.path, script.path, context=512)
    assert pair.template.thinking == "always"
    answer = driver.ask("hello", speculation=mode)
    assert answer.token_ids == script.ids
    assert answer.text == "[THINK]hm [/THINK]yes no ", "and other control tokens show nothing"
    assert split_thoughts(answer.text, pair.template.markers) == [("thought", "hm"), ("said", "yes no ")]
    for cut in range(1, 6):
        part = driver.ask("hello", max_tokens=cut)
        rest = driver.ask("hello", answer_so_far=AnswerSoFar(token_ids=part.token_ids), speculation=mode)
        assert part.text + rest.text == answer.text
    second = driver.ask("hello", answer.text, "and?", speculation=mode, max_tokens=1)
    assert "hm" not in prompt_text(driver, second), "the template cannot see these markers"
    assert "yes" in prompt_text(driver, second)
