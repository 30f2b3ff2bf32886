"""Kept answers, read from the store, made again and told about."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.proof import NO_PROOF, no_proof
from app.chats.readonly import UnreadableStoreError
from app.chats.records import Figures
from app.chats.store import ChatStore, open_chats
from app.replay.again import CannotReplay, make_again, wanted_pair
from app.replay.kept import DamagedRecordError, KeptAnswer, kept_answer, last_records
from app.replay.shown import UNSPELLED, as_json, as_text, details
from app.score.measuring import own_tasks
from app.tui.unfinished import Unfinished
from engine.files.fingerprint import fingerprint
from engine.files.pieces import Pieces
from engine.protocol import AttachedFile, Difference, Finished, PairInfo, Receipt, Replayed, TextDelta
from tests.app.tui.fake_client import pair, receipt, stats
from tests.fixtures.random_models import write_random
from tests.unit.compare.engines import PaperEngine

VERSIONS = {"slipstream": "1"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_random(tmp_path / "tiny.gguf")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    yield store
    store.close()


def kept(store: ChatStore, model: Path, **changes: object) -> KeptAnswer:
    """One answer in the store, as the chat puts it there."""
    proof = receipt().model_copy(update={"versions": VERSIONS, "mode": "exact", **changes})
    proof = proof.model_copy(
        update={"target": proof.target.model_copy(update={"path": str(model), "fingerprint": fingerprint(model)})}
    )
    proof = Receipt.model_validate(proof.model_dump())
    chat = store.create_conversation()
    question = store.append_user(chat.id, "Name a river.", parent=None)
    answer = store.start_answer(chat.id, parent=question.id)
    store.finish_answer(
        answer.id,
        Finished(
            id=1,
            finish_reason="stop",
            text="The Rhine",
            token_ids=(5, 6, 7),
            sources="tlc",
            stats=stats(3, accepted=1, rejected=1, prompt=3, prompt_tokens_cached=2),
            receipt=proof,
        ),
    )
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    return found


def changed(store: ChatStore, statement: str) -> None:
    """The store's file is edited by other means."""
    assert store.file is not None
    with contextlib.closing(sqlite3.connect(store.file)) as db, db:
        db.execute(statement)


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


def test_its_request_has_what_was_found_out_on_the_way(store: ChatStore, model: Path) -> None:
    request = kept(store, model, stop=("###",)).request()
    assert (request.prompt_ids, request.seed, request.stop, request.messages) == ((1, 2, 3), 7, ("###",), ())


def test_the_pair_is_the_one_that_answered(store: ChatStore, model: Path) -> None:
    load = wanted_pair(kept(store, model))
    assert (load.target.path, load.context, load.threads, load.mode) == (str(model), 8192, 2, "exact")


def test_a_file_that_was_changed_or_is_gone_is_refused(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    model.write_bytes(model.read_bytes() + b"x")
    with pytest.raises(CannotReplay, match=r"is another file than the one that answered \([0-9a-f]{12} then, "):
        wanted_pair(answer)
    model.unlink()
    with pytest.raises(CannotReplay, match=r"tiny\.gguf is not there any more"):
        wanted_pair(answer)


def test_by_its_passes_every_token_is_compared(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, passes="2 1*3", mode="fast")
    engine = PaperEngine(replies=[Replayed(id=0, compared=3)])
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.identical
    assert outcome.words == "Identical: 3 tokens made again by the passes it was made by."
    wanted = engine.replayed[0]
    assert (wanted.prompt_ids, wanted.token_ids, wanted.passes, wanted.seed) == ((1, 2, 3), (5, 6, 7), "2 1*3", 7)


def test_anew_it_is_asked_for_with_an_empty_history(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    engine = PaperEngine(ids=lambda settings: (5, 6, 7))
    outcome = asyncio.run(make_again(engine, answer, "off", VERSIONS))
    assert outcome.words == "Identical: 3 tokens made again with speculation off."
    asked = engine.asked[0]
    assert (asked.prompt_ids, asked.fresh, asked.seed, asked.max_tokens) == ((1, 2, 3), True, 7, 3)


def test_the_first_difference_and_its_likely_cause_are_named(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    engine = PaperEngine(ids=lambda settings: (5, 9, 7))
    outcome = asyncio.run(make_again(engine, answer, "auto", {"slipstream": "2"}))
    assert (outcome.place, outcome.identical) == (1, False)
    assert outcome.words == (
        "Different from token 2 of 3 on, made again with speculation auto. "
        "The likely cause: slipstream was 1 then and is 2 now."
    )


def test_anew_too_the_model_gives_the_two_tokens_their_probabilities(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    watched = Replayed(id=0, compared=2, watched={6: 0.25, 9: 0.5})
    engine = PaperEngine(ids=lambda settings: (5, 9, 7), replies=[watched])
    outcome = asyncio.run(make_again(engine, answer, "auto", VERSIONS))
    assert (engine.replayed[0].token_ids, engine.replayed[0].watch) == ((5, 6), (9,))
    line = details(answer, outcome)[0]
    assert ", 25.0% by the model; now " in line
    assert line.endswith(", 50.0%")


def test_a_changed_prompt_is_noticed_and_named(store: ChatStore, model: Path) -> None:
    """A token of what the model was shown was planted in the record: the answer comes out as another, and why is
    said."""
    answer = kept(store, model, mode="exact settings, untested")
    changed(store, "UPDATE figures SET receipt = json_set(receipt, '$.prompt_ids[1]', 9)")
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    engine = PaperEngine(ids=lambda settings: (5, 8, 7) if settings.prompt_ids == (1, 9, 3) else (5, 6, 7))
    outcome = asyncio.run(make_again(engine, found, "off", VERSIONS))
    assert outcome.words == (
        "Different from token 2 of 3 on, made again with speculation off. "
        "The likely cause: The record of this answer was changed after it was made."
    )


def test_a_difference_without_a_cause_is_not_explained_away(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested", passes="2 1*3")
    differs = Difference(index=0, expected=5, chosen=6, expected_probability=0.5, chosen_probability=0.4, width=1)
    engine = PaperEngine(replies=[Replayed(id=0, compared=3, difference=differs)])
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == (
        "Different from token 1 of 3 on, made again by the passes it was made by. Nothing that the record tells of is "
        "otherwise now. Of a model file that is its size and its first and last MiB; the middle is not compared: "
        "slipstream models verify reads whole the files that Slipstream fetched. If the file is good, the answer's "
        "record or this engine is wrong."
    )


@pytest.mark.parametrize(("then", "now", "told"), [("a" * 12, "b" * 12, True), ("", "b" * 12, False)])
def test_another_build_is_told_also_where_the_tokens_are_the_same(
    store: ChatStore, model: Path, then: str, now: str, told: bool
) -> None:
    answer = kept(store, model, mode="exact settings, untested", build=then)
    engine = PaperEngine(ids=lambda settings: (5, 6, 7))
    engine.pair = pair().model_copy(update={"target": answer.receipt.target, "build": now})
    outcome = asyncio.run(make_again(engine, answer, "off", VERSIONS))
    assert outcome.identical
    words = ["It was made by another build of llama.cpp (aaaaaaaaaaaa then, bbbbbbbbbbbb now)."] if told else []
    assert details(answer, outcome) == words


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


def test_where_the_passes_are_not_known_nothing_else_is_claimed(store: ChatStore, model: Path) -> None:
    """An answer that was cut off in fast mode: only its end would have told its passes."""
    answer = kept(store, model, mode="fast", passes="")
    engine = PaperEngine(replies=[Replayed(id=0, compared=3)])
    engine.pair = fast_pair(answer)
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == "Identical: 3 tokens made again plainly, a token a pass."
    differs = Difference(index=1, expected=6, chosen=9, expected_probability=0.4, chosen_probability=0.5, width=1)
    engine.replies.append(Replayed(id=0, compared=3, difference=differs))
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == (
        "Different from token 2 of 3 on, made again plainly, a token a pass. By which passes it was made is not known, "
        "since it was cut off before its end; in fast mode those of another width may round otherwise, so this "
        "difference proves nothing."
    )


def fast_pair(answer: KeptAnswer) -> PairInfo:
    return pair().model_copy(update={"target": answer.receipt.target, "badge": "fast"})


def test_an_older_record_without_a_seal_is_not_suspected(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    changed(store, "UPDATE figures SET receipt = json_set(json_remove(receipt, '$.seal'), '$.seed', 8)")
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    assert not found.altered


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


def test_a_setting_that_is_an_empty_list_has_a_word(store: ChatStore, model: Path) -> None:
    settings = receipt().settings
    for breakers, words in (((), "none"), (("\n", "*"), r"'\n', '*'")):
        sampling = settings.sampling.model_copy(update={"dry_sequence_breakers": breakers})
        answer = kept(store, model, settings=settings.model_copy(update={"sampling": sampling}))
        (line,) = [line for line in as_text(answer) if line.startswith("seed ")]
        assert line.endswith(f"dry sequence breakers {words}")


def test_the_model_has_the_name_that_it_has_on_screen(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    assert as_text(answer)[1] == f"model tiny {answer.receipt.target.fingerprint[:12]}"


def test_the_receipt_shows_every_token_and_where_it_came_from(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    lines = as_text(answer)
    assert "what the model was shown: 3 tokens, 2 of them from the cache" in lines
    assert "what it said: 3 tokens, ended by stop" in lines
    at = lines.index("who said what")
    said = [line.split()[:2] for line in lines[at + 1 : at + 4]]
    assert said == [["model", "1"], ["lookup", "1"], ["correction", "1"]]
    sources = [line.split()[2] for line in lines[-3:]]
    assert sources == ["model", "lookup", "correction"]
    found = as_json(answer)
    assert [token["from"] for token in found["prompt"]] == ["cache", "cache", "read"]
    assert [token["from"] for token in found["tokens"]] == ["model", "lookup", "correction"]
    assert "".join(token["text"] for token in found["tokens"]) == Pieces(model).text(answer.token_ids)


def test_a_program_gets_a_tokens_text_as_it_is_and_bytes_of_a_part(
    store: ChatStore, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pieces, "bytes_of", lambda self, token: {5: b" a\n'", 6: b"\xc3", 7: b"\xa9"}.get(token, b"x"))
    answer = kept(store, model)
    assert [(token["text"], token.get("bytes")) for token in as_json(answer)["tokens"]] == [
        (" a\n'", None), ("\N{REPLACEMENT CHARACTER}", [0xC3]), ("\N{REPLACEMENT CHARACTER}", [0xA9]),
    ]  # fmt: skip


def test_files_that_went_along_are_named(store: ChatStore, model: Path) -> None:
    file = AttachedFile(path="no\x1btes.txt", sha256="ab" * 32, modified="2026-11-29T15:00:00+00:00")
    answer = kept(store, model, attachments=(file,))
    assert f"attached {file.path}  abababababab  2026-11-29 15:00:00 UTC" in as_text(answer)
    assert as_json(answer)["receipt"]["attachments"] == [file.model_dump()]


def test_without_the_file_the_ids_are_still_shown(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    model.unlink()
    assert as_json(answer)["tokens"][0] == {"id": 5, "text": None, "from": "model"}
    assert as_text(answer)[-1].split() == ["5", "7", "correction"]
    assert UNSPELLED in as_text(answer)


def test_another_files_pieces_are_not_taken_for_the_models(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    write_random(model, width=8)
    assert as_json(answer)["tokens"][0]["text"] is None


def test_stretches_of_the_text_by_who_said_them(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, text_lengths=(4, 3, 2))
    found = as_json(answer)["spans"]
    assert [(span["from"], span["tokens"], span["text"]) for span in found] == [
        ("model", 1, "The "), ("lookup", 1, "Rhi"), ("correction", 1, "ne"),
    ]  # fmt: skip


def test_both_tokens_are_named_where_it_differs(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    outcome = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 9, 7)), answer, "auto", VERSIONS))
    (line,) = details(answer, outcome)
    assert line.endswith("(token 9)")
    assert line.startswith("then ")
    shorter = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 6)), answer, "auto", VERSIONS))
    assert details(answer, shorter)[0].endswith("; now nothing more")


def test_what_is_loaded_already_is_not_loaded_again(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    engine = PaperEngine()
    held = pair().model_copy(update={"target": answer.receipt.target})
    for changes, loads in (({}, 0), ({"context": 1024}, 1), ({"threads": 9}, 1), ({"badge": "fast"}, 1)):
        engine.pair, engine.loaded = held.model_copy(update=changes), []
        asyncio.run(make_again(engine, answer, "off", VERSIONS))
        assert len(engine.loaded) == loads, changes
