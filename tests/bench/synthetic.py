"""A model of any size with random weights, written by streaming: it says nothing, at the cost of one that does.

Only what costs time is real: the shapes, the weight type, the vocabulary. The scale of the weights keeps the logits
spread by about 4, so greedy text wanders. The tokenizer is another file's, or bytes filled up with pieces of no use.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from engine.files.arrays import read_span
from engine.files.header import Header, Tensor, read_header
from engine.files.tensor_types import tensor_bytes

WeightType = Literal["q8_0", "f16"]

CHUNK_ELEMENTS = 1 << 22
ALIGNMENT = 32
BYTE_SPREAD = 73.9
"""Standard deviation of a random signed byte."""

_F32, _F16, _Q8_0 = 0, 1, 8  # enum ggml_type
_KINDS: dict[WeightType, int] = {"q8_0": _Q8_0, "f16": _F16}
_BOOL, _STRING, _ARRAY, _UINT32, _INT32, _FLOAT32 = 7, 8, 9, 4, 5, 6  # GGUF value types
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6  # tokenizer.ggml.token_type


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a llama-architecture model; ``feed_forward`` and ``width`` are whole numbers of 32."""

    blocks: int
    width: int
    feed_forward: int
    heads: int
    kv_heads: int
    context: int
    vocabulary: int = 49_152
    """Used where there is no tokenizer to copy."""

    @property
    def kv_bytes(self) -> int:
        """Bytes of F16 K and V cache a token of context takes."""
        return 4 * self.blocks * self.kv_heads * (self.width // self.heads)


BIG = Shape(blocks=28, width=3072, feed_forward=8192, heads=24, kv_heads=8, context=131_072)
"""Llama-3.2-3B's shape with another vocabulary: 3.1 billion weights, 3.3 GB in Q8_0."""

SMALL = Shape(blocks=12, width=768, feed_forward=2048, heads=12, kv_heads=4, context=8192)
"""What stands in for a starter model that is not at hand."""

TINY = Shape(blocks=2, width=128, feed_forward=256, heads=2, kv_heads=1, context=8192, vocabulary=2048)


def write_synthetic(
    path: Path, shape: Shape, *, weights: WeightType = "q8_0", tokenizer: Path | None = None, seed: int = 1
) -> Path:
    """Write the model to ``path``, atomically. The same arguments, the same file."""
    source = read_header(tokenizer) if tokenizer else None
    pairs = list(_tokenizer_of(source) if source else _byte_tokenizer(shape.vocabulary))
    size = source.tokens.count if source and source.tokens else shape.vocabulary
    pairs = [*_sizes(path.stem, shape, size), *pairs]
    tensors = list(_tensors(shape, size, _KINDS[weights]))
    random = np.random.Generator(np.random.SFC64(seed))
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)))
        file.writelines(pairs)
        for tensor, _ in tensors:
            name, dims = tensor.name.encode(), tensor.dims
            file.write(_text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
            file.write(struct.pack("<IQ", tensor.type, tensor.offset))
        file.write(bytes(-file.tell() % ALIGNMENT))
        for tensor, spread in tensors:
            _stream(file, tensor, spread, random)
            file.write(bytes(-file.tell() % ALIGNMENT))
    return partial.replace(path)


def _sizes(name: str, shape: Shape, vocabulary: int) -> Iterator[bytes]:
    yield _pair("general.architecture", _STRING, _text(b"llama"))
    yield _pair("general.name", _STRING, _text(name.encode()))
    numbers = {
        "block_count": shape.blocks,
        "context_length": shape.context,
        "embedding_length": shape.width,
        "feed_forward_length": shape.feed_forward,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "rope.dimension_count": shape.width // shape.heads,
        "vocab_size": vocabulary,
    }
    for key, number in numbers.items():
        yield _pair(f"llama.{key}", _UINT32, struct.pack("<I", number))
    yield _pair("llama.attention.layer_norm_rms_epsilon", _FLOAT32, struct.pack("<f", 1e-5))


def _tokenizer_of(header: Header) -> Iterator[bytes]:
    """Everything the other file says about its tokenizer, arrays byte for byte."""
    for key, value in header.metadata.items():
        if not key.startswith("tokenizer.") or key in header.arrays:
            continue
        if isinstance(value, bool):
            yield _pair(key, _BOOL, struct.pack("<?", value))
        elif isinstance(value, int):
            yield _pair(key, _UINT32, struct.pack("<I", value))
        elif isinstance(value, str):
            yield _pair(key, _STRING, _text(value.encode()))
    for key, span in header.arrays.items():
        if key.startswith("tokenizer."):
            yield _array(key, span.item_type, span.count, read_span(header, span))


def _byte_tokenizer(size: int) -> Iterator[bytes]:
    """SentencePiece with nothing but bytes: text is spelled letter by letter, the other pieces are never read."""
    special = [b"<unk>", b"<s>", b"</s>"]
    pieces = [*special, *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    types = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256]
    pieces += [f"\u2581w{number}".encode() for number in range(len(pieces), size)]
    types += [_NORMAL] * (size - len(types))
    yield _pair("tokenizer.ggml.model", _STRING, _text(b"llama"))
    yield _array("tokenizer.ggml.tokens", _STRING, size, b"".join(map(_text, pieces)))
    yield _array("tokenizer.ggml.scores", _FLOAT32, size, struct.pack(f"<{size}f", *[0.0] * size))
    yield _array("tokenizer.ggml.token_type", _INT32, size, struct.pack(f"<{size}i", *types))
    for key, number in {"bos": 1, "eos": 2, "unknown": 0}.items():
        yield _pair(f"tokenizer.ggml.{key}_token_id", _UINT32, struct.pack("<I", number))
    yield _pair("tokenizer.ggml.add_space_prefix", _BOOL, b"\0")


def _tensors(shape: Shape, vocabulary: int, kind: int) -> Iterator[tuple[Tensor, float | None]]:
    """Every tensor with its place, and how far its random values spread (None: all ones)."""
    width, wide = shape.width, shape.feed_forward
    narrow = shape.kv_heads * (width // shape.heads)
    wanted: list[tuple[str, tuple[int, ...], float | None]] = [
        ("token_embd", (width, vocabulary), 1.0),
        ("output_norm", (width,), None),
        ("output", (width, vocabulary), 4.0 / width**0.5),
    ]
    matrices = {
        "attn_q": (width, width),
        "attn_k": (width, narrow),
        "attn_v": (width, narrow),
        "attn_output": (width, width),
        "ffn_gate": (width, wide),
        "ffn_up": (width, wide),
        "ffn_down": (wide, width),
    }
    for block in range(shape.blocks):
        wanted += [(f"blk.{block}.{norm}", (width,), None) for norm in ("attn_norm", "ffn_norm")]
        wanted += [(f"blk.{block}.{key}", dims, dims[0] ** -0.5) for key, dims in matrices.items()]
    offset = 0
    for name, dims, spread in wanted:
        tensor = Tensor(f"{name}.weight", dims, _F32 if spread is None else kind, offset)
        yield tensor, spread
        offset += _bytes(tensor)
        offset += -offset % ALIGNMENT


def _bytes(tensor: Tensor) -> int:
    size = tensor_bytes(tensor.type, tensor.dims)
    assert size is not None
    return size


def _stream(file: BinaryIO, tensor: Tensor, spread: float | None, random: np.random.Generator) -> None:
    """The tensor's data, a few megabytes at a time."""
    if spread is None:
        file.write(np.ones(tensor.dims[0], np.float32).tobytes())
        return
    left = int(np.prod(tensor.dims, dtype=np.int64))
    scale = np.float16(spread / BYTE_SPREAD)
    while left:
        count = min(left, CHUNK_ELEMENTS)
        values = np.frombuffer(random.bytes(count), np.int8)
        if tensor.type == _Q8_0:
            blocks = np.empty((count // 32, 34), np.uint8)
            blocks[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
            blocks[:, 2:] = values.view(np.uint8).reshape(-1, 32)
            file.write(blocks.tobytes())
        else:
            file.write((values * scale).astype(np.float16).tobytes())
        left -= count


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _text(key.encode()) + struct.pack("<I", kind) + value


def _array(key: str, item_kind: int, count: int, items: bytes) -> bytes:
    return _pair(key, _ARRAY, struct.pack("<IQ", item_kind, count) + items)
