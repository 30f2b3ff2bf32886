"""What was changed in the store behind Slipstream's back: a text, a seal, who said what."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from app.chats.proof import ALTERED, TEXT_CHANGED, UNSEALED
from app.chats.records import Figures
from app.chats.seal import Sealer
from app.chats.store import ChatStore
from app.replay.again import Outcome, make_again
from app.replay.kept import KeptAnswer, kept_answer
from app.replay.shown import as_json, as_text, details
from engine.files.pieces import Pieces
from engine.protocol import GenerateSettings
from tests.unit.compare.engines import PaperEngine
from tests.unit.replay.answers import VERSIONS, changed, kept

EDIT = "UPDATE messages SET content = 'The Rhone' WHERE role = 'assistant'"


def edited(store: ChatStore, model: Path, *statements: str, **changes: object) -> KeptAnswer:
    answer = kept(store, model, **changes)
    assert answer.doubts == ()
    for statement in statements:
        changed(store, statement)
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    return found


def again(answer: KeptAnswer, *ids: int) -> Outcome:
    def said(settings: GenerateSettings) -> tuple[int, ...]:
        return ids

    return asyncio.run(make_again(PaperEngine(ids=said), answer, "off", VERSIONS))


def test_an_edited_text_is_told_though_the_tokens_come_out_the_same(store: ChatStore, model: Path) -> None:
    answer = edited(store, model, EDIT, mode="exact settings, untested")
    outcome = again(answer, 5, 6, 7)
    assert outcome.words == (
        "Identical: 3 tokens made again with speculation off. The text of this answer was changed after it was made: "
        "what the chat shows is not what its tokens say, and a replay compares these alone."
    )
    assert (outcome.identical, answer.text_changed, answer.altered, details(answer, outcome)) == (True, True, False, [])


def test_an_edited_text_is_not_the_cause_of_other_tokens(store: ChatStore, model: Path) -> None:
    answer = edited(store, model, EDIT, mode="exact settings, untested")
    outcome = again(answer, 5, 9, 7)
    assert outcome.words.startswith("Different from token 2 of 3 on, made again with speculation off. Nothing that ")
    assert TEXT_CHANGED in details(answer, outcome)


def test_the_receipt_tells_it_and_shows_what_the_tokens_say(store: ChatStore, model: Path) -> None:
    answer = edited(store, model, EDIT, text_lengths=(4, 3, 2))
    assert as_text(answer)[1] == TEXT_CHANGED
    found = as_json(answer)
    assert found["doubts"] == [TEXT_CHANGED]
    assert found["text"] == "The Rhone"
    assert [span["text"] for span in found["spans"]] == [Pieces(model).text([token]) for token in answer.token_ids]
    model.unlink()
    assert [span["text"] for span in as_json(answer)["spans"]] == ["", "", ""], "a changed text is nobody's"


@pytest.mark.parametrize("how", ["json_set(receipt, '$.seal', '')", "json_remove(receipt, '$.seal')"])
def test_a_seal_that_was_taken_off_is_told_and_nothing_is_called_changed(
    store: ChatStore, model: Path, how: str
) -> None:
    answer = edited(store, model, f"UPDATE figures SET receipt = {how}", mode="exact settings, untested")
    assert answer.doubts == (UNSEALED,)
    assert as_text(answer)[1] == (
        "This answer bears no seal, though the version that made it seals every answer: nothing tells whether its "
        "record and its text are as they were."
    )
    outcome = again(answer, 5, 6, 7)
    assert outcome.words == "Identical: 3 tokens made again with speculation off."
    assert details(answer, outcome) == [UNSEALED]
    assert "likely cause" not in again(answer, 5, 9, 7).words


def test_a_seal_that_was_taken_off_does_not_hide_an_edited_text(store: ChatStore, model: Path) -> None:
    answer = edited(store, model, EDIT, "UPDATE figures SET receipt = json_remove(receipt, '$.seal')")
    assert answer.doubts == (UNSEALED, TEXT_CHANGED)


@pytest.mark.parametrize(
    "change",
    [
        "sources = 'ttt'",
        "finish_reason = 'length'",
        "stats = json_set(stats, '$.accepted', 3)",
        "receipt = json_set(receipt, '$.text_lengths', json('[3,4,2]'))",
        "receipt = json_remove(receipt, '$.text_sha256')",
    ],
)
def test_who_said_what_and_how_fast_is_sealed_too(store: ChatStore, model: Path, change: str) -> None:
    assert edited(store, model, f"UPDATE figures SET {change}", text_lengths=(4, 3, 2)).doubts == (ALTERED,)


def test_a_record_from_before_there_were_seals_is_not_suspected(store: ChatStore, model: Path) -> None:
    strip = "json_remove(receipt, '$.seal', '$.build', '$.text_sha256')"
    answer = edited(store, model, f"UPDATE figures SET receipt = {strip}", EDIT)
    assert answer.doubts == ()
    assert json.dumps(as_json(answer)["doubts"]) == "[]"


def test_a_record_whose_seal_is_of_its_tokens_alone_is_as_it_was(store: ChatStore, model: Path) -> None:
    """Versions before this one sealed them so: what they did not seal is not asked for."""
    answer = kept(store, model)
    figures = Figures(answer.id, "stop", answer.token_ids, answer.sources, "{}", None)
    seal = Sealer.of(answer.receipt).seal(figures, "", ())
    before = f"json_set(json_remove(receipt, '$.text_sha256'), '$.seal', '{seal}')"
    changed(store, f"UPDATE figures SET receipt = {before} WHERE message = {answer.id}")
    assert store.file is not None
    for change, doubts in (("sources = 'ttt'", ()), ("token_ids = '5,6,8'", (ALTERED,))):
        changed(store, f"UPDATE figures SET {change} WHERE message = {answer.id}")
        found = kept_answer(store.file, answer.id)
        assert found is not None
        assert found.doubts == doubts
