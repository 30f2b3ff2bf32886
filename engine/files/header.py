"""A GGUF's header: what the file says about its model, read in milliseconds and without trust.
Layout (ggml ``docs/gguf.md``): magic, version, tensor count, pair count, key/value pairs, tensor infos, padding,
tensor data. Arrays are stepped over, since a vocabulary of 262,144 pieces takes ten seconds as Python objects; where
they lie is kept, so that two vocabularies can be compared as bytes.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from struct import Struct

from engine.files.limits import impossible
from engine.files.scan import SCALARS, ArraySpan, HeaderError, Scanner, ValueType
from engine.files.seen import SeenArrays
from engine.files.tensor_types import tensor_bytes

__all__ = ["ArraySpan", "Header", "HeaderError", "SeenArrays", "Tensor", "read_array", "read_header", "read_span"]

MAX_PAIRS = 65_536
MAX_TENSORS = 65_536
MAX_KEY_BYTES = 65_535
MAX_TENSOR_NAME_BYTES = 63  # GGML_MAX_NAME is 64 with the closing zero
MAX_DIMS = 4
MAX_TENSOR_BYTES = 2**62
MAX_ALIGNMENT = 2**20
MAX_KEPT_ITEMS = 1024
"""Number arrays up to this length are kept in the metadata: head counts layer by layer, for example."""
MAX_KEPT_IN_ALL = 65_536  # items of all kept arrays together; those behind are only stepped over

_TENSOR = tuple(Struct(f"<{dims}QIQ") for dims in range(MAX_DIMS + 1))  # dimensions, type, offset

Value = int | float | bool | str | tuple[int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: dimensions innermost first, ggml type number, offset from the start of the tensor data."""

    name: str
    dims: tuple[int, ...]
    type: int
    offset: int


@dataclass(frozen=True)
class Header:
    """What a GGUF file says about itself. Values of the wrong type count as absent."""

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

    @property
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

    @property
    def block_count(self) -> int | None:
        return self._own("block_count")

    @property
    def embedding_length(self) -> int | None:
        return self._own("embedding_length")

    @property
    def head_counts(self) -> tuple[int, ...]:
        """Attention heads: one number for all layers, or one a layer; empty when the file does not say."""
        return self._layers("attention.head_count")

    @property
    def kv_head_counts(self) -> tuple[int, ...]:
        """Key/value heads in the same form; as many as attention heads where the file does not say."""
        return self._layers("attention.head_count_kv") or self.head_counts

    @property
    def key_length(self) -> int | None:
        """Dimensions of a key of one head; embedding / heads where the file does not say."""
        return self._own("attention.key_length") or self._head_dimensions()

    @property
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
        return self._span("tokenizer.ggml.tokens", ValueType.STRING)

    @property
    def token_types(self) -> ArraySpan | None:
        """The pieces' types: 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte."""
        return self._span("tokenizer.ggml.token_type", ValueType.INT32)

    def _span(self, key: str, item_type: ValueType) -> ArraySpan | None:
        span = self.arrays.get(key)
        return span if span is not None and span.item_type == item_type else None


def read_header(path: Path | str, *, seen: SeenArrays | None = None) -> Header:
    """Read and check the header of the GGUF at ``path``.

    ``seen``: what earlier files held, which makes the scan of many files fast and gives every array of strings its
    hash. Raises :class:`HeaderError` for anything that is no whole, readable GGUF, and OSError (FileNotFoundError,
    PermissionError) where the file system refuses.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise HeaderError("not_gguf", f"{path.name} is {kind}, not a GGUF model file.")
    with open(path, "rb") as file:
        scan = Scanner(file, path.name, seen)
        version, tensor_count, pair_count = _preamble(scan)
        metadata, arrays = _pairs(scan, pair_count)
        if wrong := impossible(metadata):
            raise scan.broken(wrong)
        alignment = _alignment(scan, metadata)
        tensors = _tensors(scan, tensor_count, alignment)
    data_offset = scan.position + (-scan.position % alignment if tensors else 0)
    expected = data_offset + max((tensor.offset + _bytes(scan, tensor) for tensor in tensors), default=0)
    if scan.size < expected:
        words = f"the header promises {expected:,} bytes, {scan.size:,} are here"
        raise HeaderError("truncated", f"{path.name} is incomplete: {words}.")
    return Header(path, version, metadata, arrays, tensors, data_offset, scan.size, expected)


def _preamble(scan: Scanner) -> tuple[int, int, int]:
    if scan.size == 0:
        raise HeaderError("not_gguf", f"{scan.name} is empty.")
    if scan.size < 4 or scan.raw(4) != b"GGUF":
        raise HeaderError("not_gguf", f"{scan.name} is not a GGUF model file.")
    version = scan.u32()
    if version & 0xFFFF == 0 and version != 0:
        raise HeaderError("unsupported", f"{scan.name} was written for big-endian machines, which is not supported.")
    if version not in (2, 3):
        raise HeaderError("unsupported", f"{scan.name} is GGUF version {version}; versions 2 and 3 are supported.")
    tensor_count, pair_count = scan.u64(), scan.u64()
    if tensor_count > MAX_TENSORS:
        raise scan.broken(f"it claims {tensor_count:,} tensors")
    if pair_count > MAX_PAIRS:
        raise scan.broken(f"it claims {pair_count:,} metadata entries")
    return version, tensor_count, pair_count


def _pairs(scan: Scanner, count: int) -> tuple[dict[str, Value], dict[str, ArraySpan]]:
    metadata: dict[str, Value] = {}
    arrays: dict[str, ArraySpan] = {}
    kept = 0
    for _ in range(count):
        key = scan.string("a key", MAX_KEY_BYTES)
        if not key or key in metadata or key in arrays:
            raise scan.broken(f"the key {key[:60]!r} occurs twice" if key else "a key is empty")
        value_type = scan.u32()
        if value_type == ValueType.STRING:
            metadata[key] = scan.string(repr(key[:60]))
        elif value_type == ValueType.ARRAY:
            span = arrays[key] = scan.array(repr(key[:60]))
            if span.item_type in SCALARS and span.count <= min(MAX_KEPT_ITEMS, MAX_KEPT_IN_ALL - kept):
                end, scan.position = scan.position, span.offset
                metadata[key] = tuple(scan.scalar(span.item_type) for _ in range(span.count))
                assert scan.position == end
                kept += span.count
        elif value_type in SCALARS:
            metadata[key] = scan.scalar(value_type)
        else:
            raise scan.broken(f"{key[:60]!r} has the unknown type {value_type}")
    return metadata, arrays


def _alignment(scan: Scanner, metadata: dict[str, Value]) -> int:
    alignment = metadata.get("general.alignment", 32)
    if (
        not isinstance(alignment, int)
        or isinstance(alignment, bool)
        or not 0 < alignment <= MAX_ALIGNMENT
        or alignment & (alignment - 1)
    ):
        raise scan.broken(f"its alignment is {str(alignment)[:40]!r}, not a power of two")
    return alignment


def _tensors(scan: Scanner, count: int, alignment: int) -> tuple[Tensor, ...]:
    tensors: list[Tensor] = []
    names: set[str] = set()
    for _ in range(count):
        name = scan.string("a tensor name", MAX_TENSOR_NAME_BYTES)
        if name in names:
            raise scan.broken(f"the tensor {name!r} occurs twice")
        names.add(name)
        dim_count = scan.u32()
        if dim_count > MAX_DIMS:
            raise scan.broken(f"tensor {name!r} has {dim_count} dimensions")
        *dims, kind, offset = scan.numbers(_TENSOR[dim_count])
        if 0 in dims:  # a zero dimension divides by zero inside the loader
            raise scan.broken(f"tensor {name!r} has a dimension of zero")
        if prod(dims) > MAX_TENSOR_BYTES:
            raise scan.broken(f"tensor {name!r} is said to have {prod(dims):,} elements")
        tensor = Tensor(name, tuple(dims), kind, offset)
        if tensor.offset % alignment or tensor.offset > MAX_TENSOR_BYTES:
            raise scan.broken(f"tensor {name!r} lies at the impossible offset {tensor.offset:,}")
        tensors.append(tensor)
    return tuple(tensors)


def _bytes(scan: Scanner, tensor: Tensor) -> int:
    try:
        return tensor_bytes(tensor.type, tensor.dims) or 0
    except ValueError as error:
        raise scan.broken(f"tensor {tensor.name!r}: {error}") from None


def read_span(file: Header | Path, span: ArraySpan) -> bytes:
    """The raw bytes of an array. Raises HeaderError(truncated) when the file has shrunk since."""
    path = file.path if isinstance(file, Header) else file
    with open(path, "rb") as opened:
        opened.seek(span.offset)
        data = opened.read(span.length)
    if len(data) != span.length:
        raise HeaderError("truncated", f"{path.name} became shorter while it was read.")
    return data


def read_array(header: Header, key: str) -> list[bytes] | list[int | float | bool]:
    """All items of the array ``key``: bytes of strings, or numbers. Raises KeyError where there is none."""
    span = header.arrays[key]
    data = read_span(header, span)
    if span.item_type in SCALARS:
        return [item for (item,) in SCALARS[span.item_type].iter_unpack(data)]
    items: list[bytes] = []
    position = 0
    for _ in range(span.count):
        start = position + 8
        position = start + int.from_bytes(data[position:start], "little")
        items.append(data[start:position])
    return items
