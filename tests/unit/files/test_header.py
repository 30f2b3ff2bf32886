"""The header walk: what a good file says, and a clear refusal for every bad one."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.files import header as header_module
from engine.files import scan as scan_module
from engine.files.header import HeaderError, read_array, read_header, read_span
from engine.files.tensor_types import BLOCKS, tensor_bytes
from tests.fixtures.scripted import Script

STRING, ARRAY, UINT32 = 8, 9, 4


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: str, dims: list[int], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def blob(pairs: list[bytes], tensors: list[bytes], *, version: int = 3, data: int = 0) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(tensors)
    return head + bytes(-len(head) % 32 + data)


ARCHITECTURE = pair("general.architecture", STRING, text("llama"))

Write = Callable[[bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(data: bytes) -> Path:
        path = tmp_path / "m.gguf"
        path.write_bytes(data)
        return path

    return to_file


def refusal(path: Path) -> HeaderError:
    started = time.process_time()
    with pytest.raises(HeaderError) as caught:
        read_header(path)
    assert time.process_time() - started < 2
    assert path.name in caught.value.message
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    return caught.value


# ----------------------------------------------------------------------------------------------------- good files


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

    assert min(once() for _ in range(5)) < 0.05


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


# ------------------------------------------------------------------------------------------------------ bad files


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
        (blob([pair("k", ARRAY, struct.pack("<IQ", 8, 5_000_000))], []), "broken", "more than 4,000,000 strings"),
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


def test_limits_hold_what_real_models_need() -> None:
    assert header_module.MAX_TENSORS > 10_000
    assert scan_module.MAX_STRINGS > 3 * (262_144 + 600_000)  # Gemma 4: pieces and merges


# --------------------------------------------------------------------------- made-up headers: bounded time and memory


def test_tens_of_thousands_of_small_arrays_are_not_all_kept(write: Write) -> None:
    arrays = [pair(f"k{i}", ARRAY, struct.pack("<IQ1024B", 0, 1024, *bytes(1024))) for i in range(20_000)]
    path = write(blob([ARCHITECTURE, *arrays], []))
    started = time.process_time()
    header = read_header(path)
    assert time.process_time() - started < 2
    kept = sum(len(value) for value in header.metadata.values() if isinstance(value, tuple))
    assert kept <= header_module.MAX_KEPT_IN_ALL
    assert len(header.arrays) == 20_000


def test_the_longest_strings_of_bytes_that_are_no_text(write: Write) -> None:
    strings = [pair(f"k{i}", STRING, text(b"\xff" * (15 << 20))) for i in range(9)]
    path = write(blob(strings, []))
    started = time.process_time()
    with pytest.raises(HeaderError, match="its header is larger than 134,217,728 bytes"):
        read_header(path)
    assert time.process_time() - started < 2


def test_as_many_tensors_as_are_allowed(write: Write) -> None:
    path = write(blob([], [tensor(f"t{i}", [1], offset=0) for i in range(65_536)], data=64))
    started = time.process_time()
    assert len(read_header(path).tensors) == 65_536
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("block_count", 0, "it claims 0 layers, and 1 to 512 are possible"),
        ("block_count", 513, "it claims 513 layers, and 1 to 512 are possible"),
        ("block_count", 2**32 - 1, "it claims 4,294,967,295 layers, and 1 to 512 are possible"),
        ("embedding_length", 0, "it claims that a token is 0 numbers wide"),
    ],
)
def test_numbers_that_would_end_the_process_are_refused(write: Write, key: str, value: int, why: str) -> None:
    number = pair(f"llama.{key}", UINT32, struct.pack("<I", value))
    for pairs in ([ARCHITECTURE, number], [number, ARCHITECTURE]):
        error = refusal(write(blob(pairs, [tensor("a", [32])], data=128)))
        assert (error.code, error.message) == ("broken", f"m.gguf is broken: {why}.")


def test_the_most_layers_there_can_be(write: Write) -> None:
    for value in (1, 512):
        number = pair("llama.block_count", UINT32, struct.pack("<I", value))
        assert read_header(write(blob([ARCHITECTURE, number], [tensor("a", [32])], data=128))).block_count == value
