"""The header walk over made-up headers: bounded time and memory, whatever they claim."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.files import header as header_module
from engine.files import metadata as metadata_module
from engine.files import scan as scan_module
from engine.files.header import HeaderError, read_header
from tests.fixtures.pace import limit
from tests.unit.files.by_hand import ARCHITECTURE, ARRAY, STRING, UINT32, blob, pair, refusal, tensor, text

Write = Callable[[bytes], Path]


def test_limits_hold_what_real_models_need() -> None:
    assert header_module.MAX_TENSORS > 10_000
    assert header_module.MAX_PAIRS > 1_000
    assert scan_module.MAX_STRINGS > 3 * (262_144 + 600_000)  # Gemma 4: pieces and merges


def test_a_header_without_end_stops_at_the_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.files.scan.MAX_HEADER_BYTES", 1 << 20)
    path = tmp_path / "sparse.gguf"
    path.write_bytes(blob([pair("k", ARRAY, struct.pack("<IQ", 12, 2**26))], []))
    os.truncate(path, 1 << 30)
    error = refusal(path)
    assert error.message == "sparse.gguf is broken: its header is larger than 1,048,576 bytes."


def test_millions_of_empty_strings_take_bounded_time(tmp_path: Path) -> None:
    path = tmp_path / "sparse.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 9) + pair("k", ARRAY, struct.pack("<IQ", 8, 3_999_999)))
    os.truncate(path, 1 << 30)
    assert refusal(path).code == "broken"


def test_thousands_of_small_arrays_are_not_all_kept(write: Write) -> None:
    arrays = [pair(f"k{i}", ARRAY, struct.pack("<IQ1024B", 0, 1024, *bytes(1024))) for i in range(4_000)]
    path = write(blob([ARCHITECTURE, *arrays], []))
    started = time.process_time()
    header = read_header(path)
    assert time.process_time() - started < limit(2)
    kept = sum(len(value) for value in header.metadata.values() if isinstance(value, tuple))
    assert kept <= metadata_module.MAX_KEPT_IN_ALL
    assert len(header.arrays) == 4_000


def test_one_more_than_is_allowed(write: Write) -> None:
    pairs = [pair(f"k{i}", STRING, text("v")) for i in range(header_module.MAX_PAIRS)]
    assert refusal(write(blob([ARCHITECTURE, *pairs], []))).message.endswith("it claims 4,097 metadata entries.")
    tensors = [tensor(f"t{i}", [1], offset=0) for i in range(header_module.MAX_TENSORS + 1)]
    assert refusal(write(blob([ARCHITECTURE], tensors, data=64))).message.endswith("it claims 16,385 tensors.")


@pytest.mark.parametrize(
    ("string", "count", "why"),
    [
        (b"x" * (15 << 20), 9, "its header is larger than 134,217,728 bytes"),
        (b"x" * 99 + b"\xff" * (15 << 20), 9, "'k0' is no text, from its byte 99 on"),
        (b"\xff" * (1 << 16), 2000, "'k16' is no text, from its byte 0 on"),
    ],
    ids=["text", "long ones that are none", "many that are none"],
)  # fmt: skip
def test_the_longest_strings(write: Write, string: bytes, count: int, why: str) -> None:
    path = write(blob([pair(f"k{i}", STRING, text(string)) for i in range(count)], []))
    started = time.process_time()
    with pytest.raises(HeaderError, match=why):
        read_header(path)
    assert time.process_time() - started < limit(2)


def test_as_many_tensors_as_are_allowed(write: Write) -> None:
    path = write(blob([], [tensor(f"t{i}", [1], offset=0) for i in range(header_module.MAX_TENSORS)], data=64))
    started = time.process_time()
    assert len(read_header(path).tensors) == header_module.MAX_TENSORS
    assert time.process_time() - started < limit(2)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("block_count", 0, "it claims 0 layers, and 1 to 512 are possible"),
        ("block_count", 513, "it claims 513 layers, and 1 to 512 are possible"),
        ("block_count", 2**32 - 1, "it claims 4,294,967,295 layers, and 1 to 512 are possible"),
        ("embedding_length", 0, "it claims that a token is 0 numbers wide"),
        (
            "context_length",
            2**31,
            "it claims to be trained for 2,147,483,648 tokens of context, and 1 to 2,147,483,647 are possible",
        ),
    ],
)
def test_numbers_that_would_end_the_process_are_refused(write: Write, key: str, value: int, why: str) -> None:
    number = pair(f"llama.{key}", UINT32, struct.pack("<I", value))
    for pairs in ([ARCHITECTURE, number], [number, ARCHITECTURE]):
        error = refusal(write(blob(pairs, [tensor("a", [32])], data=128)))
        assert (error.code, error.message) == ("broken", f"m.gguf is broken: {why}.")


def test_a_context_below_none_is_refused_and_one_that_is_not_known_is_not(write: Write) -> None:
    def written(value: int) -> Path:  # as a signed number
        number = pair("llama.context_length", scan_module.ValueType.INT32, struct.pack("<i", value))
        return write(blob([ARCHITECTURE, number], [tensor("a", [32])], data=128))

    assert refusal(written(-1)).message == (
        "m.gguf is broken: it claims to be trained for -1 tokens of context, and 1 to 2,147,483,647 are possible."
    )
    assert read_header(written(0)).context_length == 0


def test_the_most_layers_there_can_be(write: Write) -> None:
    for value in (1, 512):
        number = pair("llama.block_count", UINT32, struct.pack("<I", value))
        assert read_header(write(blob([ARCHITECTURE, number], [tensor("a", [32])], data=128))).block_count == value
