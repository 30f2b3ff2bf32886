"""The header walk over good files: what they say about their models."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

import gguf

from engine.files.arrays import read_array
from engine.files.header import read_header
from engine.files.tensor_types import BLOCKS, tensor_bytes
from tests.fixtures.pace import limit
from tests.fixtures.scripted import Script
from tests.unit.files.by_hand import ARCHITECTURE, ARRAY, STRING, UINT32, blob, pair, tensor, text

Write = Callable[[bytes], Path]


def test_a_real_file(smol_path: Path) -> None:
    header = read_header(smol_path)
    assert (header.version, header.architecture, header.name) == (3, "llama", "Smollm2 135M 8k Lc100K Mix1 Ep2")
    assert (header.context_length, header.block_count, header.embedding_length) == (8192, 30, 576)
    assert (header.head_counts, header.kv_head_counts) == ((9,), (3,))
    assert (header.key_length, header.value_length, header.sliding_window, header.split) == (64, 64, None, None)
    assert (header.chat_template or "").startswith("{% for message in messages %}")
    assert header.size == header.expected_size == smol_path.stat().st_size
    assert len(header.tensors) == 272
    assert header.tokens is not None
    assert header.token_types is not None
    assert header.tokens.count == header.token_types.count == 49152
    tokens = read_array(header, "tokenizer.ggml.tokens")
    assert tokens[:3] == [b"<|endoftext|>", b"<|im_start|>", b"<|im_end|>"]
    assert len(tokens) == 49152
    assert read_array(header, "tokenizer.ggml.token_type")[:3] == [3, 3, 3]


def test_a_vocabulary_of_49152_takes_milliseconds(smol_path: Path) -> None:
    def once() -> float:
        started = time.process_time()
        read_header(smol_path)
        return time.process_time() - started

    assert min(once() for _ in range(5)) < limit(0.05)


def test_it_agrees_with_the_reference_reader(scripted: Callable[..., Script]) -> None:
    path = scripted(["a", " b"], chat_template="{{ x }}", context=777).path
    header, reference = read_header(path), gguf.GGUFReader(path)
    assert header.data_offset == reference.data_offset
    assert [(t.name, t.dims, t.type, header.data_offset + t.offset) for t in header.tensors] == [
        (t.name, tuple(map(int, t.shape)), int(t.tensor_type), t.data_offset) for t in reference.tensors
    ]
    for key, field in reference.fields.items():
        if key.startswith("GGUF."):
            continue
        contents = field.contents()
        if key in header.arrays and key not in header.metadata:
            continue
        assert header.metadata[key] == (tuple(contents) if isinstance(contents, list) else contents)
    assert header.context_length == 777


def test_block_sizes_agree_with_gguf() -> None:
    for kind, block in gguf.GGML_QUANT_SIZES.items():
        assert BLOCKS[int(kind)] == block
    assert tensor_bytes(3, (64, 10)) == 2 * 20 * 10
    assert tensor_bytes(99, (64, 10)) is None


def test_all_value_types_and_absent_keys(write: Write) -> None:
    values = [
        pair("u8", 0, b"\xff"),
        pair("i8", 1, b"\xff"),
        pair("u16", 2, struct.pack("<H", 65535)),
        pair("i16", 3, struct.pack("<h", -2)),
        pair("u32", 4, struct.pack("<I", 7)),
        pair("i32", 5, struct.pack("<i", -7)),
        pair("f32", 6, struct.pack("<f", 0.5)),
        pair("bool", 7, b"\x01"),
        pair("string", 8, text(b"caf\xc3\xa9 \xff")),
        pair("array", 9, struct.pack("<IQ3H", 2, 3, 1, 2, 3)),
        pair("strings", 9, struct.pack("<IQ", 8, 2) + text("a") + text("")),
        pair("u64", 10, struct.pack("<Q", 2**63)),
        pair("i64", 11, struct.pack("<q", -1)),
        pair("f64", 12, struct.pack("<d", 0.25)),
    ]
    header = read_header(write(blob(values, [], version=2)))
    assert header.metadata == {
        "u8": 255, "i8": -1, "u16": 65535, "i16": -2, "u32": 7, "i32": -7, "f32": 0.5, "bool": True,
        "string": "café \ufffd", "array": (1, 2, 3), "u64": 2**63, "i64": -1, "f64": 0.25,
    }  # fmt: skip
    assert read_array(header, "strings") == [b"a", b""]
    assert (header.version, header.architecture, header.name, header.chat_template) == (2, None, "m", None)
    assert (header.context_length, header.key_length, header.head_counts) == (None, None, ())
    assert (header.tokens, header.token_types) == (None, None)


def test_values_of_the_wrong_type_count_as_absent(write: Write) -> None:
    header = read_header(
        write(
            blob(
                [
                    ARCHITECTURE,
                    pair("general.name", UINT32, struct.pack("<I", 5)),
                    pair("llama.context_length", STRING, text("many")),
                    pair("llama.attention.head_count", STRING, text("x")),
                    pair("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQI", UINT32, 1, 0)),
                    pair("tokenizer.chat_template", 7, b"\x01"),
                ],
                [],
            )
        )
    )
    assert (header.name, header.context_length, header.head_counts) == ("m", None, ())
    assert (header.tokens, header.chat_template) == (None, None)


def test_heads_layer_by_layer_split_and_window(write: Write) -> None:
    def number(key: str, value: int) -> bytes:
        return pair(key, UINT32, struct.pack("<I", value))

    header = read_header(
        write(
            blob(
                [
                    ARCHITECTURE,
                    number("llama.attention.head_count", 8),
                    pair("llama.attention.head_count_kv", ARRAY, struct.pack("<IQ3I", UINT32, 3, 2, 0, 4)),
                    number("llama.embedding_length", 1024),
                    number("llama.attention.key_length", 256),
                    number("llama.attention.sliding_window", 512),
                    number("split.no", 0),
                    number("split.count", 3),
                ],
                [],
            )
        )
    )
    assert (header.head_counts, header.kv_head_counts) == ((8,), (2, 0, 4))
    assert (header.key_length, header.value_length) == (256, 128)
    assert (header.sliding_window, header.split) == (512, (0, 3))


def test_a_tensor_of_a_newer_type_is_no_fault(write: Write) -> None:
    header = read_header(write(blob([], [tensor("a", [32], kind=77)])))
    assert header.tensors[0].type == 77
    assert header.expected_size == header.data_offset
