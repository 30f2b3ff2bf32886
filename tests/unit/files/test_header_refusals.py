"""The header walk over bad files: a clear refusal for every one."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.files.arrays import read_array, read_span
from engine.files.header import HeaderError, read_header
from tests.fixtures.scripted import Script
from tests.unit.files.by_hand import ARCHITECTURE, ARRAY, STRING, UINT32, blob, pair, refusal, tensor, text

Write = Callable[[bytes], Path]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_header(tmp_path / "absent.gguf")


def test_things_that_are_no_models(tmp_path: Path, text_gguf: Path) -> None:
    empty = tmp_path / "empty.gguf"
    empty.touch()
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for path, message in {
        tmp_path: f"{tmp_path.name} is a folder, not a GGUF model file.",
        empty: "empty.gguf is empty.",
        pipe: "pipe.gguf is no regular file, not a GGUF model file.",
        text_gguf: "text.gguf is not a GGUF model file.",
    }.items():
        error = refusal(path)
        assert (error.code, error.message) == ("not_gguf", message)


def test_a_file_cut_short_names_both_sizes(truncated_gguf: Path, noise_draft: Path) -> None:
    error = refusal(truncated_gguf)
    whole, here = noise_draft.stat().st_size, truncated_gguf.stat().st_size
    assert error.code == "truncated"
    promised = read_header(noise_draft).expected_size
    assert whole - 32 < promised <= whole
    assert error.message == (
        f"truncated.gguf is incomplete: the header promises {promised:,} bytes, {here:,} are here."
    )


def test_every_cut_of_a_small_file_is_refused(write: Write) -> None:
    data = blob([ARCHITECTURE, pair("s", ARRAY, struct.pack("<IQ", STRING, 2) + text("a") + text("bc"))], [
        tensor("a", [8, 2])
    ], data=64)  # fmt: skip
    assert read_header(write(data)).expected_size == len(data)
    for length in range(4, len(data)):
        error = refusal(write(data[:length]))
        assert error.code == "truncated"
        assert f"{length:,} " in error.message
    assert "it ends inside its header, 20 bytes are here" in refusal(write(data[:20])).message


def test_a_small_file_with_a_zero_dimension(write: Write) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + tensor("a", [0, 4])
    data += bytes(88 - len(data))
    error = refusal(write(data))
    assert (error.code, error.message) == ("broken", "m.gguf is broken: tensor 'a' has a dimension of zero.")


HUGE = struct.pack("<Q", 2**62)


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (blob([], [], version=1), "unsupported", "is GGUF version 1; versions 2 and 3 are supported"),
        (blob([], [], version=4), "unsupported", "is GGUF version 4"),
        (blob([], [], version=0), "unsupported", "is GGUF version 0"),
        (blob([], [], version=0x03000000), "unsupported", "was written for big-endian machines"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**40, 0), "broken", "it claims 1,099,511,627,776 tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "broken", "metadata entries"),
        (blob([HUGE], []), "broken", "a key is said to have 4,611,686,018,427,387,904 bytes"),
        (blob([text("")], []), "broken", "a key is empty"),
        (blob([ARCHITECTURE, ARCHITECTURE], []), "broken", "the key 'general.architecture' occurs twice"),
        (blob([pair("k", STRING, HUGE)], []), "broken", "'k' is said to have"),
        (blob([pair("k", 13, b"")], []), "broken", "'k' has the unknown type 13"),
        (blob([pair("k", ARRAY, struct.pack("<I", 13) + HUGE)], []), "broken", "holds items of the unknown type 13"),
        (blob([pair("k", ARRAY, struct.pack("<I", 9) + HUGE)], []), "unsupported", "nests arrays in 'k'"),
        (blob([pair("k", ARRAY, struct.pack("<I", 0) + HUGE)], []), "broken", "items"),
        (blob([pair("k", ARRAY, struct.pack("<I", 8) + HUGE)], []), "broken", "items"),
        (blob([pair("k", ARRAY, struct.pack("<IQ", 8, 2) + HUGE)], [], data=64), "broken", "a string in 'k' is said"),
        (blob([pair("k", ARRAY, struct.pack("<IQ", 8, 1) + b"\xff" * 8)], []), "broken", "a string in 'k' is said"),
        (blob([pair("k", ARRAY, struct.pack("<IQ", 8, 5_000_000))], []), "broken", "more than 2,600,000 strings"),
        (blob([pair("general.alignment", UINT32, struct.pack("<I", 0))], []), "broken", "its alignment is '0'"),
        (blob([pair("general.alignment", UINT32, struct.pack("<I", 48))], []), "broken", "not a power of two"),
        (blob([pair("general.alignment", STRING, text("x" * 99))], []), "broken", "its alignment is 'xxx"),
        (blob([], [tensor("a", [1] * 5)]), "broken", "tensor 'a' has 5 dimensions"),
        (blob([], [tensor("a", [2**32, 2**32])]), "broken", "elements"),
        (blob([], [tensor("a", [2**63])]), "broken", "elements"),
        (blob([], [tensor("a", [31], kind=2)]), "broken", "no whole number of blocks of 32"),
        (blob([], [tensor("a", [1], offset=7)]), "broken", "impossible offset 7"),
        (blob([], [tensor("a", [1], offset=2**63)]), "broken", "impossible offset"),
        (blob([], [tensor("a", [1]), tensor("a", [1])], data=64), "broken", "the tensor 'a' occurs twice"),
        (blob([], [tensor("x" * 64, [1])]), "broken", "a tensor name is said to have 64 bytes"),
        (blob([], [tensor("a", [2**50])]), "truncated", "the header promises 4,503,599,627,370,5"),
    ],
)  # fmt: skip
def test_impossible_contents(write: Write, data: bytes, code: str, words: str) -> None:
    error = refusal(write(data + bytes(2000)))
    assert (error.code, words in error.message) == (code, True), error.message


def test_a_file_that_shrinks_later(scripted: Callable[..., Script], tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(scripted(["a"]).path.read_bytes())
    header = read_header(path)
    os.truncate(path, 1000)
    assert header.tokens is not None
    with pytest.raises(HeaderError, match=r"m\.gguf became shorter while it was read"):
        read_span(header, header.tokens)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_gets_past_the_checks(write: Write, data: st.DataObject) -> None:
    good = bytearray(
        blob(
            [
                ARCHITECTURE,
                pair("a", ARRAY, struct.pack("<IQ", STRING, 2) + text("x") + text("yz")),
                pair("n", ARRAY, struct.pack("<IQ2I", UINT32, 2, 1, 2)),
            ],
            [tensor("t", [8, 2]), tensor("u", [4], offset=64)],
            data=128,
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    path = write(bytes(good))
    try:
        header = read_header(path)
    except HeaderError:
        return
    assert header.expected_size <= len(good)
    for key in header.arrays:
        read_array(header, key)
