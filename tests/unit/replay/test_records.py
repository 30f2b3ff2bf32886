"""Kept answers, read from the store: whole, cut off, changed afterwards, damaged."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.proof import NO_PROOF, no_proof
from app.chats.readonly import UnreadableStoreError
from app.chats.records import Figures
from app.chats.store import ChatStore, open_chats
from app.replay.again import CannotReplay, make_again
from app.replay.kept import DamagedRecordError, KeptAnswer, kept_answer, last_records
from app.replay.shown import details
from app.score.measuring import own_tasks
from app.tui.unfinished import Unfinished
from engine.protocol import TextDelta
from tests.unit.compare.engines import PaperEngine
from tests.unit.replay.answers import VERSIONS, changed, kept


def test_an_answer_is_found_by_its_number_or_as_the_newest(store: ChatStore, model: Path) -> None:
    first, second = kept(store, model), kept(store, model)
    assert store.file is not None
    assert [answer.id for answer in last_records(store.file, most=5)] == [second.id, first.id]
    assert (first.text, first.token_ids, first.sources, first.finish_reason) == ("The Rhine", (5, 6, 7), "tlc", "stop")
    assert kept_answer(store.file, 12345) is None
    assert last_records(Path("/nowhere/chats.sqlite")) == []


def test_an_answer_that_was_cut_off_by_a_kill_is_found_and_one_that_is_being_made_is_not(
    store: ChatStore, model: Path
) -> None:
    ended = kept(store, model)
    chat = store.create_conversation()
    answer = store.start_answer(chat.id, parent=store.append_user(chat.id, "And?", parent=None).id)
    begun = Figures(answer.id, "interrupted", (), "", ended.stats.model_dump_json(), ended.receipt.model_dump_json())
    store.checkpoint(answer.id, "", begun)
    assert store.file is not None
    assert [found.id for found in last_records(store.file, most=5)] == [ended.id]
    store.close()
    open_chats(store.file, print).close()  # the next start
    found = kept_answer(store.file, answer.id)
    assert found is not None
    assert (found.finish_reason, found.receipt.seed) == ("interrupted", 7)
    with pytest.raises(CannotReplay, match="it ended before a token of it was kept"):
        asyncio.run(make_again(PaperEngine(), found, "off", VERSIONS))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE figures SET receipt = json_set(receipt, '$.seed', 8)",
        "UPDATE figures SET receipt = json_set(receipt, '$.prompt_ids[0]', 9)",
        "UPDATE figures SET receipt = json_set(receipt, '$.settings.sampling.temperature', 0.5)",
        "UPDATE figures SET receipt = json_set(receipt, '$.target.fingerprint', 'f0')",
        "UPDATE figures SET token_ids = '5,6,8'",
    ],
)
def test_a_record_that_was_changed_afterwards_is_told(store: ChatStore, model: Path, change: str) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    assert not answer.altered
    changed(store, change)
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    assert found.altered


def test_a_planted_seed_is_told_though_the_tokens_come_out_the_same(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    changed(store, "UPDATE figures SET receipt = json_set(receipt, '$.seed', 8)")
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    outcome = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 6, 7)), found, "off", VERSIONS))
    assert outcome.identical
    assert details(found, outcome) == ["The record of this answer was changed after it was made."]


def test_a_changed_record_of_an_answer_that_was_cut_off_is_told(store: ChatStore, model: Path) -> None:
    """Its last checkpoint is sealed, as its end would have been."""
    proof = kept(store, model, mode="fast").receipt.model_copy(update={"seal": ""})
    unfinished = Unfinished(proof)
    unfinished.take(TextDelta(id=0, text="The ", token_ids=(5,), sources="t", completed=(4,)))
    unfinished.take(TextDelta(id=0, text="Rhine", token_ids=(6,), sources="l", completed=(5,)))
    chat = store.create_conversation()
    answer = store.start_answer(chat.id, parent=store.append_user(chat.id, "And?", parent=None).id)
    assert store.file is not None
    store.checkpoint(answer.id, *unfinished.checkpoint(answer.id, "The ", None))
    store.checkpoint(answer.id, *unfinished.checkpoint(answer.id, "The Rhine", None))
    store.close()
    open_chats(store.file, print).close()  # the next start
    found = kept_answer(store.file, answer.id)
    assert found is not None
    assert (found.token_ids, found.altered, bool(found.receipt.seal)) == ((5, 6), False, True)
    for change in ("token_ids = '5,7'", "receipt = json_set(receipt, '$.seed', 8)"):
        changed(store, f"UPDATE figures SET {change} WHERE message = {answer.id}")
        found = kept_answer(store.file, answer.id)
        assert found is not None
        assert found.altered


def test_a_failed_answer_is_sealed_too(store: ChatStore, model: Path) -> None:
    unfinished = Unfinished(kept(store, model).receipt.model_copy(update={"seal": ""}))
    unfinished.take(TextDelta(id=0, text="The ", token_ids=(5,), sources="t", completed=(4,)))
    chat = store.create_conversation()
    answer = store.start_answer(chat.id, parent=store.append_user(chat.id, "And?", parent=None).id)
    store.fail_answer(answer.id, "The engine ended.", text="The ", figures=unfinished.failed(answer.id, "The ", None))
    changed(store, f"UPDATE figures SET token_ids = '6' WHERE message = {answer.id}")
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    assert found.altered


@pytest.mark.parametrize("change", ["receipt = '{\"broken'", "token_ids = '5,x'", "receipt = '{}'"])
def test_a_damaged_record_is_not_passed_over_in_silence(store: ChatStore, model: Path, change: str) -> None:
    whole, broken = kept(store, model), kept(store, model)
    changed(store, f"UPDATE figures SET {change} WHERE message = {broken.id}")
    assert store.file is not None
    words = f"The record of answer {broken.id} is damaged, or a later version of Slipstream wrote it."
    with pytest.raises(DamagedRecordError, match=words):
        kept_answer(store.file, broken.id)
    damaged, found = last_records(store.file, most=5)
    assert str(damaged) == words
    assert isinstance(found, KeptAnswer)
    assert found.id == whole.id


def test_own_requests_tell_what_is_left_out(store: ChatStore, model: Path) -> None:
    whole, broken = kept(store, model), kept(store, model)
    assert store.file is not None
    assert own_tasks(store.file, model).left_out == ""
    changed(store, f"UPDATE figures SET receipt = '{{}}' WHERE message = {broken.id}")
    found = own_tasks(store.file, model)
    assert [task.id for task in found.tasks] == [str(whole.id)]
    assert found.left_out == (
        "The record of one answer is damaged, or a later version of Slipstream wrote it; it is left out of your own "
        "requests."
    )


def test_chats_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path, model: Path) -> None:
    store = tmp_path / "text.sqlite"
    store.write_text("no database, and long enough to be looked at as if it were one " * 20)
    for look in (lambda: kept_answer(store, 1), lambda: last_records(store), lambda: own_tasks(store, model)):
        with pytest.raises(UnreadableStoreError, match="cannot be read now"):
            look()


def test_why_there_is_no_receipt(store: ChatStore, model: Path) -> None:
    """The same sentences on every screen."""
    answer = kept(store, model)
    figures = store.figures([answer.id])[answer.id]
    damaged = f"The record of answer {answer.id} is damaged, or a later version of Slipstream wrote it."
    assert no_proof(figures) == ""
    assert no_proof(None) == no_proof(replace(figures, receipt_json=None)) == NO_PROOF
    assert no_proof(replace(figures, receipt_json="{}")) == no_proof(replace(figures, stats_json="[")) == damaged
