"""Which draft may serve which target, and the reason in words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import llama_cpp.llama_cpp as L
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.files.header import SeenArrays, read_header
from engine.files.pairing import FIRST_COMPARED, Judge, Pieces, Verdict, Vocabulary, judge, judge_headers
from tests.fixtures.gguf_files import Tokenizer, small_tokenizer
from tests.fixtures.pace import limit
from tests.fixtures.plugin import RENAMED_ID, RENAMED_TEXT
from tests.fixtures.random_models import write_random
from tests.fixtures.scripted import Script
from tests.fixtures.walk import Walker

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(name: str, *, extra: int = 0, **changes: object) -> Path:
        tokenizer = small_tokenizer([f"piece{number}" for number in range(10 + extra)])
        for key, value in changes.items():
            setattr(tokenizer, key, value)
        return write_random(tmp_path / f"{name}.gguf", tokenizer, width=16, blocks=1)

    return write


def test_equal_vocabularies_fit_quickly(smol_path: Path, noise_draft: Path) -> None:
    assert judge(smol_path, noise_draft) == Verdict(True, "same vocabulary", 49152)
    assert judge(smol_path, smol_path).fits

    def once() -> float:
        started = time.process_time()
        judge(smol_path, noise_draft)
        return time.process_time() - started

    assert min(once() for _ in range(5)) < limit(0.1)


def test_one_renamed_piece_is_named(smol_path: Path, renamed_draft: Path) -> None:
    verdict = judge(smol_path, renamed_draft)
    assert not verdict.fits
    assert verdict.reason == f'vocabulary differs at id {RENAMED_ID}: "Ġquest" here, "{RENAMED_TEXT}" in the draft'


def test_another_declared_type_with_equal_pieces(smol_path: Path, retyped_draft: Path) -> None:
    assert judge(smol_path, retyped_draft) == Verdict(
        False,
        "other vocabulary: type gpt2 with 49,152 pieces here, type llama with 49,152 in the draft",
        49152,
    )


def test_unrelated_models_name_both_sizes(smol_path: Path, random_model: Path) -> None:
    reason = judge(smol_path, random_model).reason
    size = read_header(random_model).tokens
    assert size is not None
    assert reason == f"other vocabulary: type gpt2 with 49,152 pieces here, type llama with {size.count:,} in the draft"


def test_padding_may_differ(scripted: Callable[..., Script]) -> None:
    chain = ["a", "b"]
    target, padded = scripted(chain, vocabulary=320), scripted(chain, vocabulary=328)
    assert judge(target.path, padded.path) == Verdict(
        True, "same vocabulary up to id 319; the draft has 8 more pieces", 320
    )
    assert judge(padded.path, target.path) == Verdict(
        True, "same vocabulary up to id 319; the target has 8 more pieces", 320
    )


@pytest.mark.parametrize(("extra", "fits"), [(128, True), (129, False)])
def test_the_limit_of_padding(make: Make, extra: int, fits: bool) -> None:
    verdict = judge(make("target"), make("draft", extra=extra))
    assert verdict.fits is fits
    assert verdict.shared_vocabulary == 269
    if not fits:
        assert verdict.reason == "other vocabulary: 269 pieces here, 398 in the draft, and at most 128 may differ"


def test_a_difference_in_padded_vocabularies(make: Make) -> None:
    pieces = [f"piece{number}" for number in range(12)]
    pieces[4] = "other\n"
    tokenizer = small_tokenizer(pieces)
    draft = make("draft", tokens=tokenizer.tokens, types=tokenizer.types)
    reason = judge(make("target"), draft).reason
    assert reason == 'vocabulary differs at id 263: "piece4" here, "other\ufffd" in the draft'


def test_the_first_five_ids_may_differ(make: Make) -> None:
    tokens = list(small_tokenizer([f"piece{number}" for number in range(10)]).tokens)
    tokens[0], tokens[4] = "<nothing>", "<one>"
    assert judge(make("target"), make("draft", tokens=tokens)).fits
    tokens[5] = "<two>"
    assert "differs at id 5" in judge(make("target"), make("draft2", tokens=tokens)).reason


@pytest.mark.parametrize(
    ("here", "there", "reason"),
    [
        ({"add_bos": True}, {"add_bos": False}, "start tokens differ: id 1 is added here, none is added in the draft"),
        ({"bos": 1}, {"bos": 7}, "start tokens differ: id 1 is added here, id 7 is added in the draft"),
        ({"add_bos": False}, {"add_bos": False, "bos": 7}, None),
        ({}, {"add_bos": True}, None),  # a SentencePiece vocabulary adds it unless the file says no
        ({}, {"add_bos": True, "bos": 99_999}, None),  # an impossible id falls back to 1
        ({"model": "gpt2"}, {"model": "gpt2", "add_bos": False}, None),
        ({"model": "gpt2", "pre": "tekken"}, {"model": "gpt2", "add_bos": True}, None),
        ({"model": "gpt2", "pre": "llama-bpe"}, {"model": "gpt2", "pre": "smollm"}, "start tokens differ: id 1 is"),
        ({"model": "t5"}, {"model": "t5", "eos": 5}, "end tokens differ: id 2 is added here, id 5 is added in the"),
        ({"model": "new"}, {"model": "new"}, None),
    ],
)  # fmt: skip
def test_start_and_end_tokens(
    make: Make, here: dict[str, object], there: dict[str, object], reason: str | None
) -> None:
    verdict = judge(make("target", **here), make("draft", **there))
    assert verdict.fits is (reason is None)
    assert verdict.reason.startswith(reason or "same vocabulary")


def test_the_architecture_does_not_matter(make: Make, tmp_path: Path) -> None:
    tokenizer = small_tokenizer([f"piece{number}" for number in range(10)])
    draft = write_random(tmp_path / "d.gguf", tokenizer, width=16, architecture="internlm2")
    assert judge(make("target"), draft).fits


def test_files_without_a_vocabulary_or_without_sense(make: Make, tmp_path: Path, text_gguf: Path) -> None:
    target = make("target")
    bare = tmp_path / "bare.gguf"
    bare.write_bytes(b"GGUF\x03\0\0\0" + bytes(16))
    assert judge(target, bare) == Verdict(False, "bare.gguf carries no vocabulary", 0)
    assert judge(bare, target) == Verdict(False, "bare.gguf carries no vocabulary", 0)
    assert judge(bare, bare).fits is False
    assert judge(target, text_gguf) == Verdict(False, "text.gguf is not a GGUF model file", 0)
    missing = tmp_path / "missing.gguf"
    assert judge(target, missing) == Verdict(False, f"there is no file {missing}", 0)


def test_headers_that_are_known_already(make: Make) -> None:
    header = read_header(make("target"))
    assert judge_headers(header, header).fits


def test_the_defaults_are_llama_cpps_own(tmp_path: Path) -> None:
    """The real library decides alike for the kinds of files that can be written here."""
    for number, tokenizer in enumerate(
        [
            small_tokenizer(["a"]),
            small_tokenizer(["a"], add_bos=False),
            small_tokenizer(["a"], bos=1, add_bos=True),
            Tokenizer("gpt2", ["a", "b", "<s>"], [1, 1, 3], bos=2, eos=2, unknown=None, pre="smollm", merges=["a b"]),
            Tokenizer("gpt2", ["a", "b", "<s>"], [1, 1, 3], bos=2, eos=2, unknown=None, pre="tekken", merges=["a b"]),
            Tokenizer("gpt2", ["a", "b", "<s>"], [1, 1, 3], bos=2, eos=2, unknown=None, pre="lfm2", merges=["a b"]),
        ]
    ):
        path = write_random(tmp_path / f"{number}.gguf", tokenizer, width=16, blocks=1)
        ours = Vocabulary.of(read_header(path))
        assert ours is not None
        with Walker(path) as walker:
            assert (ours.start is not None) == L.llama_vocab_get_add_bos(walker.vocab)
            assert (ours.end is not None) == L.llama_vocab_get_add_eos(walker.vocab)
            if ours.start is not None:
                assert ours.start == L.llama_vocab_bos(walker.vocab)


def judged_by(target: Path, draft: Path, *, hashed: bool) -> Verdict:
    """The verdict from what is kept of the two files."""
    seen = SeenArrays() if hashed else None
    here, there = (Vocabulary.of(read_header(path, seen=seen)) for path in (target, draft))
    assert here is not None
    assert there is not None
    return Judge(here).verdict(there)


@pytest.mark.parametrize("hashed", [False, True])
def test_what_is_kept_of_a_file_judges_it(
    smol_path: Path, noise_draft: Path, renamed_draft: Path, random_model: Path, hashed: bool
) -> None:
    for draft in (noise_draft, renamed_draft, random_model):
        assert judged_by(smol_path, draft, hashed=hashed) == judge(smol_path, draft)


def test_equal_hashes_need_no_file(make: Make) -> None:
    seen = SeenArrays()
    target, draft = make("target"), make("draft")
    here, there = (Vocabulary.of(read_header(path, seen=seen)) for path in (target, draft))
    assert here is not None
    assert there is not None
    draft.unlink()
    target.unlink()
    assert Judge(here).verdict(there) == Verdict(True, "same vocabulary", 269)


def test_a_file_that_is_gone_or_became_shorter(make: Make) -> None:
    target, draft = make("target"), make("draft")
    here, there = (Vocabulary.of(read_header(path)) for path in (target, draft))
    assert here is not None
    assert there is not None
    os.truncate(draft, 100)
    assert Judge(here).verdict(there) == Verdict(False, "draft.gguf became shorter while it was read", 269)
    draft.unlink()
    verdict = Judge(here).verdict(there)
    assert not verdict.fits
    assert "No such file" in verdict.reason


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_first_difference_is_the_one_found_piece_by_piece(data: st.DataObject) -> None:
    piece = st.binary(max_size=3)
    ours = data.draw(st.lists(piece, max_size=12))
    theirs = data.draw(st.one_of(st.lists(piece, max_size=12), st.just([*ours])))
    if theirs and data.draw(st.booleans()):
        theirs[data.draw(st.integers(0, len(theirs) - 1))] = data.draw(piece)
    expected = next(
        ((i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if i >= FIRST_COMPARED and a != b),
        None,
    )
    assert Pieces(as_bytes(ours)).difference(as_bytes(theirs)) == expected


def as_bytes(pieces: list[bytes]) -> bytes:
    return b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)
