"""The arrays that a header steps over, read when somebody wants them."""

from __future__ import annotations

from pathlib import Path

from engine.files.header import Header
from engine.files.scan import SCALARS, ArraySpan, HeaderError


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
