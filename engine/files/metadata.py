"""The key/value pairs of a GGUF's header.

Arrays are stepped over, since a vocabulary of 262,144 pieces takes ten seconds as Python objects; where they lie is
kept, so that two vocabularies can be compared as bytes.
"""

from __future__ import annotations

from typing import Final

from engine.files.scan import SCALARS, ArraySpan, Scanner, ValueType

VOCABULARY: Final = "tokenizer.ggml.tokens"

MAX_KEY_BYTES: Final = 65_535
MAX_KEPT_ITEMS: Final = 1024
"""Number arrays up to this length are kept in the metadata: head counts layer by layer, for example."""
MAX_KEPT_IN_ALL: Final = 65_536
"""Items of all kept arrays together; those behind are only stepped over."""
MAX_ALIGNMENT: Final = 2**20

Value = int | float | bool | str | tuple[int | float | bool, ...]


def read_pairs(scan: Scanner, count: int) -> tuple[dict[str, Value], dict[str, ArraySpan]]:
    """The values that are kept, and where the arrays lie. Raises :class:`HeaderError`."""
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
            span = arrays[key] = scan.array(repr(key[:60]), hashed=key == VOCABULARY)
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


def alignment_of(scan: Scanner, metadata: dict[str, Value]) -> int:
    """Bytes that tensor data are aligned to."""
    alignment = metadata.get("general.alignment", 32)
    if (
        not isinstance(alignment, int)
        or isinstance(alignment, bool)
        or not 0 < alignment <= MAX_ALIGNMENT
        or alignment & (alignment - 1)
    ):
        raise scan.broken(f"its alignment is {str(alignment)[:40]!r}, not a power of two")
    return alignment
