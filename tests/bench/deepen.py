"""A model made deeper without changing a word it says: identity layers appended to a GGUF.

An appended block's last attention matrix and last feed-forward matrix are zero, so the block adds nothing to the
residual stream; its other tensors are copies, so it costs what a real one costs. The file is written by streaming.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.files.header import Header, Tensor, read_header
from engine.files.tensor_types import tensor_bytes

CHUNK = 4 * 1024 * 1024
_PREAMBLE = 24  # magic, version, tensor count, pair count
_UINT32 = 4  # the GGUF number of that value type
_SILENT = ("attn_output.", "ffn_down.")
"""Tensors of a block that write into the residual stream; all-zero bytes are zero in every ggml weight type used."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """One tensor of the new file, and where its bytes come from (None: zeros)."""

    tensor: Tensor
    source: int | None
    size: int


def deepen(source: Path, out: Path, extra: int) -> Path:
    """Write ``source`` with ``extra`` identity blocks more to ``out``; atomically, so that a file there is whole.

    Raises ValueError for a model this cannot be done to (settings per layer, tensors of an unknown size).
    """
    header = read_header(source)
    blocks = header.block_count
    if not blocks:
        raise ValueError(f"{source.name} does not say how many blocks it has")
    plan = list(_plan(header, blocks, extra))
    partial = out.with_name(out.name + ".partial")
    with open(source, "rb") as file, open(partial, "wb") as new:
        pairs = _pairs_with_block_count(header, file, blocks + extra)
        file.seek(0)
        magic_and_version = file.read(8)
        pair_count = file.read(16)[8:]
        new.write(magic_and_version + struct.pack("<Q", len(plan)) + pair_count + pairs)
        for copy in plan:
            new.write(_info(copy.tensor))
        alignment = _alignment(header)
        new.write(bytes(-new.tell() % alignment))
        for copy in plan:
            _stream(file, new, copy)
            new.write(bytes(-copy.size % alignment))
    partial.replace(out)
    return out


def _plan(header: Header, blocks: int, extra: int) -> Iterator[_Copy]:
    """The tensors of the new file in order, with new offsets."""
    alignment, position = _alignment(header), 0
    by_block: dict[int, list[Tensor]] = {}
    wanted: list[tuple[str, Tensor, bool]] = []
    for tensor in header.tensors:
        wanted.append((tensor.name, tensor, False))
        if tensor.name.startswith("blk."):
            by_block.setdefault(int(tensor.name.split(".")[1]), []).append(tensor)
    for number in range(blocks, blocks + extra):
        for tensor in by_block[number % blocks]:
            rest = tensor.name.split(".", 2)[2]
            wanted.append((f"blk.{number}.{rest}", tensor, rest.startswith(_SILENT)))
    for name, tensor, silent in wanted:
        size = tensor_bytes(tensor.type, tensor.dims)
        if size is None:
            raise ValueError(f"{tensor.name} has the unknown type {tensor.type}")
        source = None if silent else header.data_offset + tensor.offset
        yield _Copy(Tensor(name, tensor.dims, tensor.type, position), source, size)
        position += size + -size % alignment


def _pairs_with_block_count(header: Header, file: BinaryIO, count: int) -> bytes:
    """The file's metadata, byte for byte, with another block count."""
    infos = b"".join(map(_info, header.tensors))
    file.seek(0)
    head = file.read(header.data_offset)
    end = head.rfind(infos)
    if end < _PREAMBLE:
        raise ValueError("the tensor list is not where it should be")
    pairs = bytearray(head[_PREAMBLE:end])
    name = f"{header.architecture}.block_count".encode()
    key = struct.pack("<Q", len(name)) + name + struct.pack("<I", _UINT32)
    place = pairs.find(key)
    if place < 0:
        raise ValueError("the block count is not a 32-bit number")
    struct.pack_into("<I", pairs, place + len(key), count)
    return bytes(pairs)


def _info(tensor: Tensor) -> bytes:
    name = tensor.name.encode()
    dims = struct.pack(f"<I{len(tensor.dims)}Q", len(tensor.dims), *tensor.dims)
    return struct.pack("<Q", len(name)) + name + dims + struct.pack("<IQ", tensor.type, tensor.offset)


def _alignment(header: Header) -> int:
    return header.integer("general.alignment") or 32


def _stream(file: BinaryIO, new: BinaryIO, copy: _Copy) -> None:
    left = copy.size
    if copy.source is not None:
        file.seek(copy.source)
    while left:
        chunk = bytes(min(left, CHUNK)) if copy.source is None else file.read(min(left, CHUNK))
        if not chunk:
            raise ValueError(f"{copy.tensor.name} is cut short")
        new.write(chunk)
        left -= len(chunk)


def weight_bytes(path: Path) -> int:
    """Bytes of weights that one pass over one token has to read.

    Every matrix once; of the embedding only one row, unless it serves as the output matrix, too.
    """
    header = read_header(path)
    tied = all(tensor.name != "output.weight" for tensor in header.tensors)
    sizes = [
        tensor_bytes(tensor.type, tensor.dims) or 0
        for tensor in header.tensors
        if tied or tensor.name != "token_embd.weight"
    ]
    return sum(sizes)
