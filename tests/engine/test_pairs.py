"""Pairs that fit, pairs that do not, and files that cannot be had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.protocol import (
    ErrorCode,
    Failed,
    SpeculationMode,
)
from tests.engine.conftest import Driver
from tests.engine.on_paper import LETTERS, Scripted
from tests.fixtures.scripted import Script


def test_a_draft_of_another_vocabulary_is_refused_and_lookup_goes_on(
    driver: Driver, smol_path: Path, renamed_draft: Path
) -> None:
    pair = driver.load(smol_path, renamed_draft, context=256)
    assert pair.draft is None
    assert pair.draft_refused is not None
    assert "vocabulary differs at id 1204" in pair.draft_refused
    assert pair.available()["draft"] == pair.draft_refused
    for mode in ("draft", "auto"):
        answer = driver.ask("Repeat: one two, one two, one two.", speculation=mode, max_tokens=24)
        assert answer.receipt is not None
        assert answer.receipt.drafter == "lookup"
        assert any("draft refused: vocabulary differs at id 1204" in note for note in answer.receipt.notes)


def test_a_draft_of_noise_changes_nothing(driver: Driver, smol_path: Path, noise_draft: Path) -> None:
    driver.load(smol_path, noise_draft, context=256)
    plain = driver.ask("Name a river.", temperature=0.7, seed=1, max_tokens=24)
    noisy = driver.ask("Name a river.", temperature=0.7, seed=1, max_tokens=24, speculation="draft")
    assert noisy.token_ids == plain.token_ids
    assert noisy.stats.acceptance is not None
    assert noisy.stats.acceptance < 0.1


@pytest.mark.parametrize("speculation", ["draft", "auto"])
def test_a_model_that_drafts_for_itself_is_said_not_to_be_worth_it(
    driver: Driver, smol_path: Path, speculation: SpeculationMode
) -> None:
    driver.load(smol_path, smol_path, context=256)
    done = driver.ask("Name a river.", max_tokens=12, speculation=speculation)
    assert done.receipt is not None
    assert any("the draft model is not worth it here: a token of it takes" in note for note in done.receipt.notes)


def test_a_padded_draft_never_proposes_an_id_the_target_lacks(
    driver: Driver, say: Callable[..., Script], scripted: Scripted
) -> None:
    draft = scripted(LETTERS, padding=8)
    script = say(LETTERS, draft=draft.path)
    answer = driver.ask("hello", speculation="draft")
    assert answer.token_ids == script.ids
    assert answer.stats.acceptance == 1


@pytest.mark.parametrize("broken", ["missing", "truncated", "text"])
def test_a_draft_that_cannot_be_had_is_a_reason_not_an_end(
    driver: Driver, scripted: Scripted, broken: str, truncated_gguf: Path, text_gguf: Path, tmp_path: Path
) -> None:
    target = scripted(LETTERS)
    draft = {"missing": tmp_path / "gone.gguf", "truncated": truncated_gguf, "text": text_gguf}[broken]
    words = {"missing": "There is no file", "truncated": "incomplete", "text": "not a GGUF"}[broken]
    pair = driver.load(target.path, draft, context=128)
    assert pair.draft_refused is not None
    assert words in pair.draft_refused
    answer = driver.ask("hello", speculation="draft")
    assert answer.text == target.text
    assert answer.receipt is not None
    assert answer.receipt.draft_refused == pair.draft_refused


def test_changing_the_draft_keeps_the_target_and_its_cache(driver: Driver, scripted: Scripted) -> None:
    target, other = scripted(LETTERS), scripted(LETTERS, altered_every=4)
    driver.load(target.path, context=128)
    driver.ask("hello")
    assert driver.session.pair is not None
    handle = driver.session.pair.target.model.handle
    driver.load(target.path, other.path, context=128)
    assert driver.session.pair.target.model.handle is handle
    answer = driver.ask("hello", speculation="draft")
    assert answer.stats.prompt_tokens_cached == answer.stats.prompt_tokens - 1
    assert answer.stats.rejected > 0
    driver.load(target.path, None, context=128)
    assert driver.session.pair.draft is None


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("missing", ErrorCode.NO_SUCH_FILE, "There is no file"),
        ("text", ErrorCode.NOT_GGUF, "not a GGUF"),
        ("truncated", ErrorCode.TRUNCATED_GGUF, "incomplete"),
    ],
)
def test_a_target_that_cannot_be_had_is_one_sentence(
    driver: Driver, kind: str, code: ErrorCode, words: str, truncated_gguf: Path, text_gguf: Path, tmp_path: Path
) -> None:
    path = {"missing": tmp_path / "gone.gguf", "text": text_gguf, "truncated": truncated_gguf}[kind]
    failed = driver.try_load(path)
    assert isinstance(failed, Failed)
    assert failed.code is code
    assert words in failed.message
    assert path.name in failed.message
    assert driver.session.pair is None
    asked = driver.try_ask("hello")
    assert isinstance(asked, Failed)
    assert asked.code is ErrorCode.NO_MODEL


def test_too_many_threads_are_limited_with_a_note(driver: Driver, scripted: Scripted) -> None:
    pair = driver.load(scripted(LETTERS).path, threads=64, context=128)
    assert pair.threads < 64
    assert any("64 threads were asked for" in note for note in pair.notes)


def test_a_context_beyond_the_trained_one_is_noted(driver: Driver, scripted: Scripted) -> None:
    pair = driver.load(scripted(LETTERS, context=128).path, context=256)
    assert any("larger than the 128" in note for note in pair.notes)
