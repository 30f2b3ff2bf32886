"""A GGUF's header: what the file says about its model, read in milliseconds and without trust.

Layout (ggml ``docs/gguf.md``): magic, version, tensor count, pair count, key/value pairs, tensor infos, padding,
tensor data.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from engine.files.limits import impossible
from engine.files.metadata import VOCABULARY, Value, alignment_of, read_pairs
from engine.files.scan import ArraySpan, HeaderError, Scanner, ValueType
from engine.files.seen import SeenArrays
from engine.files.tensor_infos import Tensor, read_tensors, stored_bytes

__all__ = ["ArraySpan", "Header", "HeaderError", "SeenArrays", "Tensor", "read_header"]

MAX_PAIRS: Final = 4_096
"""Keys with their values; models have some 60. The library holds each against all before it: 65,536 took 30 s."""
MAX_TENSORS: Final = 16_384
"""The same is true of tensors. DeepSeek V3 has 1,025."""


@dataclass(frozen=True)
class Header:
    """What a GGUF file says about itself. Values of the wrong type count as absent.

    What is asked for once a layer is worked out once: that was a third of the time that a file took.
    """

    path: Path
    version: int
    metadata: dict[str, Value] = field(repr=False)
    arrays: dict[str, ArraySpan] = field(repr=False)
    tensors: tuple[Tensor, ...] = field(repr=False)
    data_offset: int
    size: int
    """Bytes of the file."""
    expected_size: int
    """Bytes up to the end of the last tensor; a lower bound where a tensor's type is unknown."""

    def text(self, key: str) -> str | None:
        """The string under ``key``."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        """The whole number under ``key``."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        """The truth value under ``key``."""
        value = self.metadata.get(key)
        return value if isinstance(value, bool) else None

    def _own(self, key: str) -> int | None:
        """A key in the architecture's name space."""
        return self.integer(f"{self.architecture}.{key}")

    def _layers(self, key: str) -> tuple[int, ...]:
        """A number per layer, written once or layer by layer."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        if isinstance(value, int) and not isinstance(value, bool):
            return (value,)
        if isinstance(value, tuple):
            return tuple(item for item in value if isinstance(item, int))
        return ()

    @cached_property
    def architecture(self) -> str | None:
        return self.text("general.architecture")

    @property
    def name(self) -> str:
        """``general.name``, else the file's stem."""
        return self.text("general.name") or self.path.stem

    @property
    def context_length(self) -> int | None:
        """Tokens the model was trained for."""
        return self._own("context_length")

    @cached_property
    def block_count(self) -> int | None:
        return self._own("block_count")

    @cached_property
    def embedding_length(self) -> int | None:
        return self._own("embedding_length")

    @cached_property
    def head_counts(self) -> tuple[int, ...]:
        """Attention heads: one number for all layers, or one a layer; empty when the file does not say."""
        return self._layers("attention.head_count")

    @cached_property
    def kv_head_counts(self) -> tuple[int, ...]:
        """Key/value heads in the same form; as many as attention heads where the file does not say."""
        return self._layers("attention.head_count_kv") or self.head_counts

    @cached_property
    def feed_forward_lengths(self) -> tuple[int, ...]:
        """Values of one token inside the feed-forward step, in the same form; empty when the file does not say."""
        return self._layers("feed_forward_length")

    @cached_property
    def key_length(self) -> int | None:
        """Dimensions of a key of one head; embedding / heads where the file does not say."""
        return self._own("attention.key_length") or self._head_dimensions()

    @cached_property
    def value_length(self) -> int | None:
        """Dimensions of a value of one head; embedding / heads where the file does not say."""
        return self._own("attention.value_length") or self._head_dimensions()

    def _head_dimensions(self) -> int | None:
        heads = max(self.head_counts, default=0)
        return self.embedding_length // heads if self.embedding_length and heads > 0 else None

    @property
    def sliding_window(self) -> int | None:
        """Tokens a sliding-window layer looks back; None without such layers."""
        return self._own("attention.sliding_window") or None

    @property
    def chat_template(self) -> str | None:
        return self.text("tokenizer.chat_template")

    @property
    def split(self) -> tuple[int, int] | None:
        """(number of this part from 0, parts) of a model cut into several files."""
        number, count = self.integer("split.no"), self.integer("split.count")
        return (number, count) if number is not None and count is not None and count > 1 else None

    @property
    def tokens(self) -> ArraySpan | None:
        """The vocabulary's pieces."""
        return self._span(VOCABULARY, ValueType.STRING)

    @property
    def token_types(self) -> ArraySpan | None:
        """The pieces' types: 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte."""
        return self._span("tokenizer.ggml.token_type", ValueType.INT32)

    def _span(self, key: str, item_type: ValueType) -> ArraySpan | None:
        span = self.arrays.get(key)
        return span if span is not None and span.item_type == item_type else None


def read_header(path: Path | str, *, seen: SeenArrays | None = None, name: str = "") -> Header:
    """Read and check the header of the GGUF at ``path``.

    ``seen``: what earlier files held, which makes the scan of many files fast and gives every vocabulary its hash.
    ``name``: what errors call the file, where that is not its own name. Raises :class:`HeaderError` for anything
    that is no whole, readable GGUF, and OSError (FileNotFoundError, PermissionError) where the file system refuses.
    """
    path = Path(path)
    name = name or path.name
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise HeaderError("not_gguf", f"{name} is {kind}, not a GGUF model file.")
    with open(path, "rb") as file:
        scan = Scanner(file, name, seen)
        version, tensor_count, pair_count = _preamble(scan)
        metadata, arrays = read_pairs(scan, pair_count)
        if wrong := impossible(metadata):
            raise scan.broken(wrong)
        alignment = alignment_of(scan, metadata)
        tensors = read_tensors(scan, tensor_count, alignment)
    data_offset = scan.position + (-scan.position % alignment if tensors else 0)
    expected = data_offset + max((tensor.offset + stored_bytes(scan, tensor) for tensor in tensors), default=0)
    if scan.size < expected:
        words = f"the header promises {expected:,} bytes, {scan.size:,} are here"
        raise HeaderError("truncated", f"{name} is incomplete: {words}.")
    return Header(path, version, metadata, arrays, tensors, data_offset, scan.size, expected)


def _preamble(scan: Scanner) -> tuple[int, int, int]:
    if scan.size == 0:
        raise HeaderError("not_gguf", f"{scan.name} is empty.")
    if scan.size < 4 or scan.raw(4) != b"GGUF":
        raise HeaderError("not_gguf", f"{scan.name} is not a GGUF model file.")
    version = scan.u32()
    if version & 0xFFFF == 0 and version != 0:
        words = f"{scan.name} was written for big-endian machines, which is not supported."
        raise HeaderError("unsupported", words, "get the file for little-endian machines, which is the usual one")
    if version not in (2, 3):
        words = f"{scan.name} is GGUF version {version}; versions 2 and 3 are supported."
        newer = ", or a newer Slipstream" if version > 3 else ""
        raise HeaderError("unsupported", words, f"get a file of version 2 or 3{newer}")
    tensor_count, pair_count = scan.u64(), scan.u64()
    if tensor_count > MAX_TENSORS:
        raise scan.broken(f"it claims {tensor_count:,} tensors")
    if pair_count > MAX_PAIRS:
        raise scan.broken(f"it claims {pair_count:,} metadata entries")
    return version, tensor_count, pair_count
