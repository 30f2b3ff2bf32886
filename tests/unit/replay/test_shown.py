"""What is told about a kept answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.store import ChatStore
from app.receipt import wide
from app.replay.kept import last_records
from app.replay.shown import UNSPELLED, as_json, as_text
from engine.files.pieces import Pieces
from engine.protocol import AttachedFile
from tests.app.tui.fake_client import receipt
from tests.fixtures.random_models import write_random
from tests.unit.replay.answers import kept


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
    target = answer.receipt.target.model_copy(update={"sha256": "ab" * 32})
    answer = replace(answer, receipt=answer.receipt.model_copy(update={"target": target}))
    assert as_text(answer)[1] == f"model tiny {target.fingerprint[:12]}, the whole file abababababab"


def test_the_receipt_tells_the_number_by_which_compare_takes_the_chat(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    chat = store.conversations()[0].id
    assert as_text(answer)[0].startswith(f'answer {answer.id} of the chat "Name a river." ({chat}), ')
    assert as_json(answer)["chat_id"] == chat
    assert store.file is not None
    assert [found.id for found in last_records(store.file, chat)] == [answer.id]


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


def test_the_line_of_figures_is_the_one_under_the_answer(store: ChatStore, model: Path) -> None:
    """With the share of the context, which only the receipt knows the size of."""
    answer = kept(store, model)
    (line,) = [line for line in as_text(answer) if " tok/s " in line]
    assert " · 3 tok · ctx 6/8k · lookup" in line
    assert line == wide(answer.stats, "lookup", 8192)


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
