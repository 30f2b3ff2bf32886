"""Where answers end, and what of their text is shown: limits, stop strings, the window, split characters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.protocol import (
    ErrorCode,
    Event,
    Failed,
    Finished,
    Prefilling,
    Progress,
)
from tests.engine.conftest import Driver
from tests.engine.on_paper import LETTERS, MODES, Scripted, deltas
from tests.fixtures.scripted import Control, Script

# --------------------------------------------------------------------------------------------------- ends and limits


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_the_token_limit_is_exact(driver: Driver, say: Callable[..., Script], mode: Any, limit: int) -> None:
    script = say(LETTERS)
    answer = driver.ask("hello", speculation=mode, max_tokens=limit, draft_max=7)
    assert answer.token_ids == script.ids[:limit]
    assert answer.finish_reason == "length"
    assert answer.stats.output_tokens == limit


@pytest.mark.parametrize("mode", MODES)
def test_an_end_of_turn_token_stops_by_its_id(driver: Driver, say: Callable[..., Script], mode: Any) -> None:
    script = say(LETTERS[:5], end="<|eot_id|>")
    answer = driver.ask("hello", speculation=mode, draft_max=7)
    assert answer.text == "".join(LETTERS[:5])
    assert answer.token_ids == script.ids
    assert answer.finish_reason == "stop"
    if mode == "draft":
        assert answer.stats.accepted + answer.stats.discarded == answer.stats.drafted


@pytest.mark.parametrize("mode", MODES)
def test_a_stop_string_over_several_tokens_is_never_shown(
    driver: Driver, say: Callable[..., Script], mode: Any
) -> None:
    script = say(["alpha", "be", "ta", "gamma", "delta"])
    answer = driver.ask("hello", speculation=mode, draft_max=7, stop=("beta",))
    assert answer.text == "alpha"
    assert answer.finish_reason == "stop"
    assert answer.stats.output_tokens == 3, "counted to where the stop string was complete"
    assert "".join(event.text for event in deltas(driver)) == "alpha"
    assert driver.session.pair is not None
    assert len(driver.session.pair.cached) == answer.stats.prompt_tokens + 2, "nothing behind the stop stays"
    second = driver.ask("hello", answer.text, "more", speculation=mode)
    assert second.receipt is not None
    assert script.ids[3] not in second.receipt.prompt_ids, "gamma"
    assert script.ids[0] not in driver.session.pair.cached[: second.stats.prompt_tokens_cached]


def test_a_stop_string_that_is_a_control_token_matches_by_id(driver: Driver, say: Callable[..., Script]) -> None:
    say([*LETTERS[:5], Control("<|turn|>"), *LETTERS[5:9]])
    assert len(driver.ask("hello").token_ids) == 11
    answer = driver.ask("hello", stop=("<|turn|>",), speculation="draft")
    assert answer.text == "".join(LETTERS[:5])
    assert answer.finish_reason == "stop"


def test_a_cancel_before_the_first_token_has_no_figures(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)

    def stop(event: Event) -> None:
        if isinstance(event, Prefilling):
            driver.session.abort.set()

    answer = driver.ask("hello", speculation="auto", on_event=stop)
    assert (answer.finish_reason, answer.text, answer.token_ids) == ("cancelled", "", ())
    stats = answer.stats
    figures = (stats.acceptance, stats.coverage, stats.tokens_per_pass, stats.decode_tokens_per_second)
    assert figures == (None, None, None, None)
    assert stats.time_to_first_token is None


def test_of_a_prompt_whose_reading_was_stopped_only_what_was_read_is_counted(
    driver: Driver, say: Callable[..., Script]
) -> None:
    say(LETTERS, context=2048)
    prompt, read = "word " * 200, list[int]()

    def stop(event: Event) -> None:
        if isinstance(event, Prefilling):
            read.append(event.done)
            if event.done:
                driver.session.abort.set()

    stats = driver.ask(prompt, on_event=stop).stats
    assert 0 < read[-1] < stats.prompt_tokens - 1
    assert stats.context_used == read[-1]
    assert stats.prompt_tokens_unread == stats.prompt_tokens - read[-1]
    assert stats.prefill_tokens_per_second == read[-1] / stats.prefill_seconds

    whole = driver.ask(prompt, max_tokens=3).stats
    assert (whole.prompt_tokens_cached, whole.prompt_tokens_unread) == (read[-1], 0)
    assert whole.context_used == whole.prompt_tokens + 3
    assert whole.prefill_tokens_per_second == (whole.prompt_tokens - read[-1] - 1) / whole.prefill_seconds


def test_an_answer_that_ends_at_once_has_one_token_and_no_text(driver: Driver, say: Callable[..., Script]) -> None:
    say([Control("<|x|>")])
    answer = driver.ask("hello", stop=("<|x|>",))
    assert (answer.text, answer.stats.output_tokens, answer.finish_reason) == ("", 1, "stop")
    assert answer.stats.decode_tokens_per_second is None, "one token says nothing of a speed"


# --------------------------------------------------------------------------------------------------------- the window


def test_a_prompt_larger_than_the_window_is_refused_with_both_sizes(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS, context=64)
    failed = driver.try_ask("word " * 400)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.PROMPT_TOO_LARGE
    assert "the context holds 64" in failed.message
    assert "Nothing was sent or lost" in failed.message
    size = int(failed.detail.split()[1])
    assert f"{size:,}" in failed.message
    assert size > 400
    assert isinstance(driver.try_ask("hi"), Finished)


@pytest.mark.parametrize("mode", MODES)
def test_a_full_window_ends_the_answer_and_says_so(driver: Driver, say: Callable[..., Script], mode: Any) -> None:
    say(LETTERS, loop_to=0, context=64)
    answer = driver.ask("hello", speculation=mode, draft_max=7)
    assert answer.finish_reason == "length"
    assert answer.stats.prompt_tokens + answer.stats.output_tokens == 65, "the last token needs no room"
    assert (answer.stats.context, answer.stats.context_used) == (64, 64), "and takes none"
    progress = [event.stats for event in driver.events if isinstance(event, Progress)]
    assert all(stats.context_used <= stats.context == 64 for stats in progress)
    assert answer.receipt is not None
    assert "the context of 64 tokens is full" in answer.receipt.notes


def test_a_draft_with_a_smaller_window_gives_up_before_the_target(
    driver: Driver, scripted: Scripted, say: Callable[..., Script]
) -> None:
    draft = scripted(LETTERS, loop_to=0, context=96)  # trained for 96 tokens
    say(LETTERS, loop_to=0, draft=draft.path, context=256)
    answer = driver.ask("hello", speculation="draft", max_tokens=150)
    plain = driver.ask("hello", max_tokens=150)
    assert answer.token_ids == plain.token_ids
    assert answer.receipt is not None
    assert any("the draft model's window of 96 tokens is full" in note for note in answer.receipt.notes)
    assert set(answer.sources[-40:]) == {"t"}


GAVE_UP = "the draft model's window of 96 tokens is full; it gave up there"


@pytest.mark.parametrize("mode", MODES)
def test_that_a_draft_gave_up_is_told_of_no_later_answer(
    driver: Driver, scripted: Scripted, say: Callable[..., Script], mode: Any
) -> None:
    draft = scripted(LETTERS, loop_to=0, context=96)
    say(LETTERS, loop_to=0, draft=draft.path, context=256)
    for speculation, told in (("draft", True), (mode, False)):
        answer = driver.ask("hello", speculation=speculation, max_tokens=150 if told else 8)
        assert answer.receipt is not None
        assert (GAVE_UP in answer.receipt.notes) == told


def test_nor_of_one_that_was_stopped_before_its_first_token(
    driver: Driver, scripted: Scripted, say: Callable[..., Script]
) -> None:
    draft = scripted(LETTERS, loop_to=0, context=96)
    say(LETTERS, loop_to=0, draft=draft.path, context=256)
    driver.ask("hello", speculation="draft", max_tokens=150)

    def stop(event: Event) -> None:
        if isinstance(event, Prefilling):
            driver.session.abort.set()

    answer = driver.ask("something else", speculation="draft", max_tokens=8, on_event=stop)
    assert answer.finish_reason == "cancelled"
    assert answer.receipt is not None
    assert GAVE_UP not in answer.receipt.notes


# --------------------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("mode", MODES)
def test_characters_split_over_tokens_come_whole(driver: Driver, say: Callable[..., Script], mode: Any) -> None:
    chain = ["ok", *[bytes([b]) for b in "🦜한".encode()], "end"]
    say(chain)
    answer = driver.ask("hello", speculation=mode)
    assert answer.text == "ok🦜한end"
    assert all("\ufffd" not in event.text for event in deltas(driver))


def test_a_limit_inside_a_character_leaves_the_half_out(driver: Driver, say: Callable[..., Script]) -> None:
    say(["ok", *[bytes([b]) for b in "🦜".encode()]])
    answer = driver.ask("hello", max_tokens=3)
    assert answer.text == "ok"
    assert answer.stats.output_tokens == 3


@pytest.mark.parametrize("mode", ["off", "draft"])
def test_leading_spaces_stay(driver: Driver, say: Callable[..., Script], mode: Any) -> None:
    say(["  two", " one"])
    assert driver.ask("hello", speculation=mode).text == "  two one"


def test_every_token_is_reported_once_with_its_source(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    answer = driver.ask("hello", speculation="draft")
    assert tuple(t for event in deltas(driver) for t in event.token_ids) == answer.token_ids
    assert "".join(event.sources for event in deltas(driver)) == answer.sources
    assert len(answer.sources) == len(answer.token_ids)
    assert any(isinstance(event, Progress) for event in driver.events)
