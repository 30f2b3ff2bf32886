"""A continued answer on paper: what is told of it, what lies over the seam, what is refused, and the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.protocol import (
    AnswerSoFar,
    ErrorCode,
    Event,
    Failed,
    Finished,
    Prefilling,
    Sampling,
    SpeculationMode,
    TextDelta,
)
from tests.engine.conftest import Driver
from tests.engine.on_paper import GREEDY, LETTERS, MODES, ids, joined, stopped_and_continued
from tests.fixtures.scripted import Control, Script


@pytest.mark.parametrize("mode", MODES)
def test_text_events_and_figures_are_those_of_the_new_part(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    script = say(LETTERS)
    part = driver.ask("hello", speculation=mode, max_tokens=15)
    rest = driver.ask("hello", speculation=mode, answer_so_far=ids(part))
    assert (part.text, rest.text) == ("".join(LETTERS[:15]), "".join(LETTERS[15:]))
    assert part.token_ids + rest.token_ids == script.ids
    assert "".join(event.text for event in driver.events if isinstance(event, TextDelta)) == rest.text
    assert rest.stats.output_tokens == len(rest.token_ids) == len(rest.sources) == 26
    assert part.receipt is not None
    assert rest.receipt is not None
    assert part.receipt.continued_from == 0
    assert rest.receipt.continued_from == 15
    assert rest.receipt.prompt_ids == part.receipt.prompt_ids + part.token_ids
    assert rest.receipt.settings.answer_so_far is None, "the tokens stand in prompt_ids"
    assert rest.stats.prompt_tokens == len(rest.receipt.prompt_ids)
    assert rest.stats.prompt_tokens_cached == rest.stats.prompt_tokens - 1, "nothing is read again"


def test_max_tokens_counts_what_is_new(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    rest = driver.ask("hello", max_tokens=10, answer_so_far=ids(part), speculation="draft")
    assert (rest.text, rest.finish_reason) == ("".join(LETTERS[10:20]), "length")


def test_the_old_part_is_looked_up(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS[:10], loop_to=0)
    part = driver.ask("hello", max_tokens=12)
    rest = driver.ask("hello", max_tokens=12, answer_so_far=ids(part), speculation="lookup")
    assert rest.sources.startswith("l"), "the first new token stood in the old part"


@pytest.mark.parametrize("mode", MODES)
def test_a_character_split_over_the_seam_comes_whole(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    say(["ok", *[bytes([byte]) for byte in "🦜".encode()], "end"])
    for cut in range(1, 6):
        part = driver.ask("hello", max_tokens=cut)
        rest = driver.ask("hello", answer_so_far=ids(part), speculation=mode)
        assert part.text == ("ok" if cut < 5 else "ok🦜")
        assert part.text + rest.text == "ok🦜end"


@pytest.mark.parametrize("mode", MODES)
def test_a_stop_string_over_the_seam_stops_and_takes_back_its_beginning(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    say(["alpha", "be", "ta", "gamma", "delta"])
    part = driver.ask("hello", stop=("beta",), max_tokens=2)
    assert part.text == "alphabe", "shown, since the answer ended there"
    rest = driver.ask("hello", stop=("beta",), answer_so_far=ids(part), speculation=mode)
    assert (rest.text, rest.retracted, rest.finish_reason) == ("", 2, "stop")
    assert joined(part.text, rest) == "alpha" == driver.ask("hello", stop=("beta",)).text


def test_what_only_looked_like_a_stop_string_is_not_said_twice(driver: Driver, say: Callable[..., Script]) -> None:
    say(["alpha", "be", "ta", "gamma"])
    part = driver.ask("hello", stop=("bet!",), max_tokens=2)
    rest = driver.ask("hello", stop=("bet!",), answer_so_far=ids(part))
    assert (part.text, rest.text, rest.retracted) == ("alphabe", "tagamma", 0)


def test_a_stop_string_that_the_old_part_ran_past_does_not_stop(driver: Driver, say: Callable[..., Script]) -> None:
    """Another stop string than before: what was said stays, and only what comes can end the answer."""
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    rest = driver.ask("hello", stop=("c0",), answer_so_far=ids(part), max_tokens=5)
    assert rest.text == "".join(LETTERS[10:15])


# ------------------------------------------------------------------------------------------------------------ refusals


def refused(driver: Driver, **settings: Any) -> str:
    failed = driver.try_ask("hello", **settings)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.BAD_SETTINGS
    assert isinstance(driver.try_ask("hello", max_tokens=1), Finished), "the next one is answered"
    return failed.message


def test_a_complete_answer_is_not_continued(driver: Driver, say: Callable[..., Script]) -> None:
    script = say(LETTERS[:4])
    words = "This answer is complete: it ended by itself, so there is nothing to continue."
    assert refused(driver, answer_so_far=AnswerSoFar(token_ids=script.ids)).startswith(words)
    stopped = driver.ask("hello", stop=("b0 c",))
    assert refused(driver, answer_so_far=ids(stopped), stop=("b0 c",)).startswith(words)


def test_a_control_token_that_stopped_it_completes_it_too(driver: Driver, say: Callable[..., Script]) -> None:
    say([*LETTERS[:3], Control("<|turn|>"), *LETTERS[3:6]])
    stopped = driver.ask("hello", stop=("<|turn|>",))
    assert "is complete" in refused(driver, answer_so_far=ids(stopped), stop=("<|turn|>",))
    assert driver.ask("hello", answer_so_far=ids(stopped)).text == "".join(LETTERS[3:6]), "without it, it goes on"


@pytest.mark.parametrize("token", [-1, 10**6])
def test_tokens_of_another_model_are_refused(driver: Driver, say: Callable[..., Script], token: int) -> None:
    script = say(LETTERS[:4])
    words = refused(driver, answer_so_far=AnswerSoFar(token_ids=(script.ids[0], token)))
    assert f"names token {token:,}, but this model has {script.vocabulary:,} tokens" in words
    assert "Nothing was lost" in words


def test_a_beginning_that_the_grammar_does_not_allow(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    sampling = Sampling(grammar='root ::= "z" [a-z]*', **GREEDY)
    assert "does not follow the grammar" in refused(driver, answer_so_far=AnswerSoFar(text="a0 b0"), sampling=sampling)


# ----------------------------------------------------------------------------------------------------------- the window


def test_the_old_part_takes_room_in_the_window(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS, loop_to=0, context=64)
    whole = driver.ask("hello", speculation="draft")
    assert whole.finish_reason == "length"
    again, _, last = stopped_and_continued(driver, "hello", cuts=[3, 20], tokens=1000, speculation="draft")
    assert again == whole.token_ids, "to the last token that the window holds"
    assert last.receipt is not None
    assert "the context of 64 tokens is full" in last.receipt.notes
    failed = driver.try_ask("hello", answer_so_far=ids(whole))
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.PROMPT_TOO_LARGE
    assert failed.message.startswith("The conversation with the answer so far is 65 tokens long and the context holds")


def test_the_oldest_turns_make_room_for_an_answer_that_filled_the_window(
    driver: Driver, say: Callable[..., Script]
) -> None:
    say(LETTERS, loop_to=0, context=128)
    turns = ("one two three", "a0 b0", "four five six")
    whole = driver.ask(*turns, overflow="drop-oldest")
    assert whole.receipt is not None
    assert whole.receipt.dropped_messages == 0
    part = driver.ask(*turns, overflow="drop-oldest", max_tokens=30)
    rest = driver.ask(*turns, overflow="drop-oldest", answer_so_far=ids(part))
    assert rest.receipt is not None
    assert rest.receipt.dropped_messages == 0, "as long as it fits, the prompt stays what it was"
    assert part.token_ids + rest.token_ids == whole.token_ids
    more = driver.ask(*turns, overflow="drop-oldest", answer_so_far=ids(whole))
    assert more.receipt is not None
    assert more.receipt.dropped_messages == 2
    assert more.receipt.continued_from == len(whole.token_ids)
    assert any("2 oldest messages were left out" in note for note in more.receipt.notes)
    assert more.token_ids


def test_a_cancel_while_the_old_part_is_read_says_nothing_new(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    driver.session.forget()

    def stop(event: Event) -> None:
        if isinstance(event, Prefilling):
            driver.session.abort.set()

    rest = driver.ask("hello", answer_so_far=ids(part), on_event=stop)
    assert (rest.text, rest.token_ids, rest.retracted, rest.finish_reason) == ("", (), 0, "cancelled")
