"""Stepping over a vocabulary that an earlier file held: the same answer, faster, and never a wrong one."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from engine.files import scan as scan_module
from engine.files import seen as seen_module
from engine.files.arrays import read_span
from engine.files.header import HeaderError, SeenArrays, read_header
from tests.fixtures.headers import strings, write_model

WORDS = [f"word{number}" for number in range(1000)]


def test_equal_arrays_have_equal_hashes_and_ends(tmp_path: Path) -> None:
    seen = SeenArrays()
    paths = [write_model(tmp_path / f"{number}.gguf", name="x" * number, tokens=WORDS) for number in range(1, 4)]
    for path in paths:
        plain, quick = read_header(path), read_header(path, seen=seen)
        assert quick.tokens == plain.tokens
        assert quick.metadata == plain.metadata
        assert plain.tokens is not None
        assert quick.tokens is not None
        assert plain.tokens.digest is None
        assert quick.tokens.digest == hashlib.sha256(read_span(plain, plain.tokens)).hexdigest()


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("place", [0, 5, 500, 998, 999])
def test_one_other_piece_is_another_array(
    tmp_path: Path, place: int, held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the bytes of the earlier file are held to compare with, or there was no room for them."""
    if not held:
        monkeypatch.setattr(seen_module, "MOST_HELD", 0)
    seen = SeenArrays()
    first = read_header(write_model(tmp_path / "a.gguf", tokens=WORDS), seen=seen)
    for text in ("other0", "a much longer piece", ""):
        words = [*WORDS]
        words[place] = text
        path = write_model(tmp_path / "b.gguf", tokens=words)
        quick, plain = read_header(path, seen=seen), read_header(path)
        assert quick.tokens == plain.tokens
        assert quick.tokens is not None
        assert first.tokens is not None
        assert quick.tokens.digest != first.tokens.digest
        assert read_header(path, seen=seen).tokens == plain.tokens  # now it is known, too


def test_a_vocabulary_that_was_met_under_another_name_has_its_hash(tmp_path: Path) -> None:
    seen = SeenArrays()
    read_header(write_model(tmp_path / "a.gguf", extra={"tokenizer.ggml.merges": strings(WORDS)}), seen=seen)
    found = read_header(write_model(tmp_path / "b.gguf", tokens=strings(WORDS)), seen=seen)
    assert found.tokens is not None
    assert found.tokens.digest == hashlib.sha256(read_span(found, found.tokens)).hexdigest()


@pytest.mark.parametrize("remembered", [False, True])
def test_a_string_that_is_too_long_is_refused_wherever_it_stands(
    tmp_path: Path, remembered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where more of the file was read than a string may be long: to compare it with an earlier one."""
    monkeypatch.setattr(scan_module, "MAX_STRING_BYTES", 3_000_000)
    words, seen = [f"word{number:04}" for number in range(300)], SeenArrays()
    path = write_model(tmp_path / "b.gguf", tokens=[*words[:150], "y" * 3_000_001, *words[151:]])
    if remembered:
        long = [*words[:150], *["z" * 100_000] * 50, *words[200:]]
        read_header(write_model(tmp_path / "a.gguf", tokens=long), seen=seen)
    with pytest.raises(HeaderError, match="said to have 3,000,001 bytes"):
        read_header(path, seen=seen)


def test_arrays_with_one_beginning_and_one_end(tmp_path: Path) -> None:
    """What is compared first is alike; all bytes are compared."""
    seen = SeenArrays()
    digests = set()
    for number in range(20):
        words = [*WORDS]
        words[500] = f"odd{number:04}"
        header = read_header(write_model(tmp_path / "m.gguf", tokens=words), seen=seen)
        assert header.tokens is not None
        digests.add(header.tokens.digest)
    assert len(digests) == 20


def test_what_is_held_of_vocabularies_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "MOST_HELD", 50_000)
    seen = SeenArrays()
    for number in range(30):
        words = [*WORDS]
        words[500 if number % 2 else 0] = f"odd{number:04}"
        path = write_model(tmp_path / "m.gguf", tokens=words)
        assert read_header(path, seen=seen).tokens == read_header(path).tokens
    held = [known.data for alike in seen._known.values() for known in alike]
    assert 0 < sum(map(len, held)) <= 50_000


def test_a_file_that_ends_where_another_ones_array_goes_on(tmp_path: Path) -> None:
    seen = SeenArrays()
    read_header(write_model(tmp_path / "a.gguf", tokens=[*WORDS, "y" * 50_000]), seen=seen)
    short = write_model(tmp_path / "b.gguf", tokens=[*WORDS, "y"], size=64)
    assert read_header(short, seen=seen).tokens == read_header(short).tokens


def test_what_was_read_of_a_longer_file_is_not_taken_for_the_next_ones(tmp_path: Path) -> None:
    """Both are read into one buffer; the shorter one ends at some place where the longer one went on."""
    seen = SeenArrays()
    long = write_model(tmp_path / "a.gguf", tokens=[*WORDS, "y" * 50_000])
    data = long.read_bytes()[: read_header(long, seen=seen).data_offset]
    short = tmp_path / "b.gguf"
    for length in (24, 25, 40, 500, 10_000, 20_000, len(data) - 64):
        short.write_bytes(data[:length])
        with pytest.raises(HeaderError, match="it ends inside its header"):
            read_header(short, seen=seen)


def test_a_large_buffer_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "MOST_LENT", 2 << 20)
    seen = SeenArrays()
    for words, kept in ((WORDS, True), ([*WORDS, "y" * (4 << 20)], False)):
        before = seen.buffer
        read_header(write_model(tmp_path / "m.gguf", tokens=words), seen=seen)
        assert (seen.buffer is before) == kept


def test_the_second_file_of_a_family_costs_a_fraction(tmp_path: Path) -> None:
    tokens = strings([f"piece number {number}" for number in range(150_000)])
    paths = [write_model(tmp_path / f"{number}.gguf", name="x" * number, tokens=tokens) for number in range(1, 6)]
    seen = SeenArrays()

    def seconds(path: Path) -> float:
        started = time.process_time()
        read_header(path, seen=seen)
        return time.process_time() - started

    first = seconds(paths[0])
    assert min(seconds(path) for path in paths[1:]) < first / 2
