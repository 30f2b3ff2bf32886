"""Answers known on paper: scripted models make the real engine say chosen tokens, so all counts are exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.protocol import (
    ErrorCode,
    Failed,
    Sampling,
)
from tests.engine.conftest import Driver
from tests.engine.on_paper import LETTERS, MODES, Scripted
from tests.fixtures.scripted import Script


@pytest.mark.parametrize("mode", MODES)
def test_the_chain_is_said_to_its_end(driver: Driver, say: Callable[..., Script], mode: Any) -> None:
    script = say(LETTERS)
    answer = driver.ask("hello", speculation=mode)
    assert answer.token_ids == script.ids
    assert answer.text == script.text
    assert answer.finish_reason == "stop"
    assert answer.stats.output_tokens == 41, "the end token counts"
    assert answer.receipt is not None
    assert answer.receipt.text_lengths == (*map(len, LETTERS), 0), "the end token has no text"
    assert len(answer.stats.pace) == answer.stats.target_passes
    assert all(rate > 0 for rate in answer.stats.pace)


def test_a_whole_draft_is_accepted_token_for_token(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    answer = driver.ask("hello", speculation="draft", draft_max=7)
    stats = answer.stats
    assert (stats.drafted, stats.accepted, stats.rejected, stats.discarded) == (36, 36, 0, 0)
    assert stats.target_passes == 6  # 5 passes of 7 + bonus = 40 tokens, then the end alone
    assert stats.acceptance == 1
    assert answer.sources == "dddddddb" * 5 + "d"


@pytest.mark.parametrize("every", [4, 5])
def test_every_kth_link_altered_gives_the_counts_on_paper(
    driver: Driver, say: Callable[..., Script], scripted: Scripted, every: int
) -> None:
    draft = scripted(LETTERS, altered_every=every)
    say(LETTERS, draft=draft.path)
    answer = driver.ask("hello", speculation="draft", draft_max=4)
    accepted, rejected, discarded, sources = on_paper(tokens=41, every=every, draft_max=4)
    assert answer.stats.accepted == accepted
    assert answer.stats.rejected == rejected
    assert answer.stats.discarded == discarded
    assert answer.stats.drafted == accepted + rejected + discarded
    assert answer.sources == sources
    assert answer.text == "".join(LETTERS)


def on_paper(tokens: int, every: int, draft_max: int) -> tuple[int, int, int, str]:
    """Walk the answer by hand. The draft says WRONG at the k-th, 2k-th, ... token; behind WRONG it starts the chain
    anew, which is wrong as well. It stops behind an end token."""
    accepted = rejected = discarded = 0
    sources, place = "", 0
    while place < tokens:
        right = 0
        while right < draft_max and place + right < tokens and (place + right + 1) % every:
            right += 1
        proposed_end = place + right == tokens
        proposals = right if proposed_end else draft_max
        accepted += right
        sources += "d" * right
        place += right
        if proposed_end:
            discarded += proposals - right
            break
        if right < proposals:
            rejected += proposals - right
            sources += "c"
        else:
            sources += "b"
        place += 1
    return accepted, rejected, discarded, sources


def test_acceptance_does_not_sink_as_the_answer_grows(
    driver: Driver, scripted: Scripted, say: Callable[..., Script]
) -> None:
    draft = scripted(LETTERS, loop_to=0, altered_every=4)
    say(LETTERS, loop_to=0, draft=draft.path, context=1024)
    answer = driver.ask("hello", speculation="draft", max_tokens=400)
    first, last = answer.sources[:100], answer.sources[300:400]
    assert first.count("d") == pytest.approx(last.count("d"), abs=1)


@pytest.mark.parametrize("length", [1, 2, 3, 40])
def test_lookup_continues_a_cycle_from_its_second_round(
    driver: Driver, say: Callable[..., Script], length: int
) -> None:
    say(LETTERS[:length], loop_to=0, context=1024)
    answer = driver.ask("hello", speculation="lookup", max_tokens=500)
    assert len(answer.token_ids) == 500
    assert answer.finish_reason == "length"
    assert answer.stats.drafters["lookup"].acceptance is not None
    assert answer.stats.drafters["lookup"].acceptance > 0.9
    assert set(answer.sources[:length]) == {"t"}
    assert (answer.stats.coverage or 0) > 0.7


def test_without_speculation_nothing_is_drafted_and_ratios_are_absent(
    driver: Driver, say: Callable[..., Script]
) -> None:
    say(LETTERS)
    stats = driver.ask("hello").stats
    assert (stats.drafted, stats.acceptance, stats.drafters) == (0, None, {})
    assert stats.tokens_per_pass == 1


def test_the_switch_changes_the_engine_every_time(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS, loop_to=0)
    drafted = [driver.ask("hello", speculation=mode, max_tokens=60).stats.drafted for mode in ("lookup", "off") * 2]
    assert drafted[0] == drafted[2] > 0
    assert drafted[1] == drafted[3] == 0


def test_drafts_of_length_nought_are_plain_decoding(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    answer = driver.ask("hello", speculation="auto", draft_max=0)
    assert answer.receipt is not None
    assert answer.receipt.drafter == "none"
    assert answer.stats.drafted == 0


def test_an_absurd_context_is_one_sentence_at_once(driver: Driver, smol_path: Path) -> None:
    failed = driver.try_load(smol_path, context=1_000_000_000)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.LOAD_FAILED
    assert "A context of 1,000,000,000 tokens" in failed.message
    assert "GB are free. Choose a smaller context." in failed.message


def test_the_parts_of_the_time_add_up(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    s = driver.ask("hello", speculation="draft").stats
    parts = s.queue_seconds + s.prefill_seconds + s.draft_prefill_seconds
    parts += s.draft_seconds + s.verify_seconds + s.choose_seconds + s.other_seconds
    assert parts == pytest.approx(s.total_seconds, rel=0.02)
    assert s.time_to_first_token is not None
    assert 0 < s.time_to_first_token <= s.total_seconds


@pytest.mark.parametrize("mode", ["off", "draft"])
def test_one_token_answers_follow_the_models_probabilities(
    driver: Driver, say: Callable[..., Script], mode: Any
) -> None:
    """Two successors at 0.7 and 0.3 (reports NR-09)."""
    script = say(["one ", "two ", "three "], alternatives={1: ("other ", 0.3)})
    plain = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
    draws = 600
    firsts = [
        driver.ask("hello", speculation=mode, sampling=plain, seed=seed, max_tokens=2).token_ids[1]
        for seed in range(draws)
    ]
    share = firsts.count(script.ids[1]) / draws
    assert share == pytest.approx(0.7, abs=0.06)  # three standard deviations
    assert set(firsts) == {script.ids[1], script.alternatives[1]}
