"""What tokens stand for, by the file alone: as llama.cpp writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.files.header import HeaderError
from engine.files.pieces import Pieces
from engine.llama.model import Model
from tests.fixtures.gguf_files import small_tokenizer
from tests.fixtures.random_models import write_random


def test_the_starter_spells_its_tokens_as_the_engine_does(smol_path: Path) -> None:

    pieces = Pieces(smol_path)
    model = Model(smol_path, gpu_layers=0)
    try:
        vocabulary = model.vocabulary
        assert len(pieces) == vocabulary.size
        for token in range(0, vocabulary.size, 7):
            if not pieces.is_control(token):
                assert pieces.bytes_of(token) == vocabulary.piece(token), token
        assert pieces.bytes_of(1) == b"<|im_start|>"
        assert pieces.is_control(1)
    finally:
        model.close()


def test_sentencepiece_has_bytes_and_its_own_space(tmp_path: Path) -> None:
    path = write_random(tmp_path / "tiny.gguf", small_tokenizer(["\u2581hello", "é"]))
    pieces = Pieces(path)
    texts = [pieces.bytes_of(token) for token in range(len(pieces))]
    assert b" hello" in texts
    assert b"A" in texts
    assert pieces.text([texts.index(b"\xc3"), texts.index(b"\xa9")]) == "é"


def test_an_id_that_the_file_does_not_have_is_a_question_mark(tmp_path: Path) -> None:
    pieces = Pieces(write_random(tmp_path / "tiny.gguf"))
    assert pieces.bytes_of(10**6) == b"?"
    assert pieces.bytes_of(-1) == b"?"


def test_a_file_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "no.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(HeaderError):
        Pieces(file)
