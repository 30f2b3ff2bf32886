"""Bounds-checked reading of an untrusted GGUF: bytes, numbers, strings, arrays, each with a cap.

The file is read, not mapped: a mapped file that another program cuts short ends this process with a bus error.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from io import BufferedReader
from typing import Literal

from engine.files.seen import EDGE, SeenArray, SeenArrays, digest_of
from engine.files.string_walk import BLOCK, LEAST, USUAL, stride, strides_pay

MAX_HEADER_BYTES = 128 * 1024 * 1024
"""Header bytes held at most. Gemma 3, with 262,144 tokens, has 6.5 MB."""

MAX_STRING_BYTES = 16 * 1024 * 1024
MAX_MENDED_BYTES = 1024 * 1024
"""Bytes of strings in one header that are no UTF-8: mending them takes 15 ns each, and real files have next to none."""
MAX_ARRAY_ITEMS = 2**27
MAX_STRINGS = 2_600_000
"""Array strings in one header: each has to be walked over, so this caps the time. Gemma 3 has 777,000."""

CHUNK = 1 << 20

FEW, MANY = 16, 65_536
"""Strings walked one by one where a stride over many ends, and most of them where strides find next to none: a header
of nothing but odd strings takes little longer by what is tried in vain."""

Fault = Literal["not_gguf", "truncated", "unsupported", "broken"]


class HeaderError(Exception):
    """Why a file is no usable model. ``message`` is one sentence for people and names the file.

    ``code``: ``not_gguf`` something else, ``truncated`` cut short, ``unsupported`` a GGUF this engine cannot use,
    ``broken`` impossible contents. ``instead``: what to do about a file that is as it was made, where fetching it again
    would bring the same one; a phrase, empty for any other.
    """

    def __init__(self, code: Fault, message: str, instead: str = "") -> None:
        super().__init__(message)
        self.code: Fault = code
        self.message = message
        self.instead = instead


class ValueType(IntEnum):
    """The types of GGUF metadata values."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


SCALARS: dict[int, struct.Struct] = {
    ValueType.UINT8: struct.Struct("<B"),
    ValueType.INT8: struct.Struct("<b"),
    ValueType.UINT16: struct.Struct("<H"),
    ValueType.INT16: struct.Struct("<h"),
    ValueType.UINT32: struct.Struct("<I"),
    ValueType.INT32: struct.Struct("<i"),
    ValueType.FLOAT32: struct.Struct("<f"),
    ValueType.BOOL: struct.Struct("<?"),
    ValueType.UINT64: struct.Struct("<Q"),
    ValueType.INT64: struct.Struct("<q"),
    ValueType.FLOAT64: struct.Struct("<d"),
}
_U32 = SCALARS[ValueType.UINT32]
_U64 = SCALARS[ValueType.UINT64]


@dataclass(frozen=True, slots=True)
class ArraySpan:
    """Where an array's items lie in the file: ``count`` items of ``item_type`` in bytes [offset, offset + length)."""

    offset: int
    length: int
    count: int
    item_type: int
    digest: str | None = field(default=None, compare=False)
    """SHA-256 of these bytes: of the pieces of a vocabulary, where the reader remembers arrays from file to file."""


class Scanner:
    """A cursor over the head of ``file``. Every method raises :class:`HeaderError` rather than read out of bounds.

    ``seen``: the arrays of earlier files, to which those of this file are added; it lends the memory that is read into.
    """

    def __init__(self, file: BufferedReader, name: str, seen: SeenArrays | None = None) -> None:
        self.name = name
        self.size = os.fstat(file.fileno()).st_size
        self.position = 0
        self._file = file
        self._buffer = bytearray() if seen is None else seen.buffer
        self._filled = 0
        """Bytes of the buffer that are this file's; what lies behind them is an earlier one's."""
        self._strings_left = MAX_STRINGS
        self._mended = 0
        self._seen = seen

    def broken(self, what: str) -> HeaderError:
        """A ``broken`` error about this file."""
        return HeaderError("broken", f"{self.name} is broken: {what}.")

    def cut_short(self) -> HeaderError:
        """A ``truncated`` error: the file ends inside its header."""
        return HeaderError(
            "truncated", f"{self.name} is incomplete: it ends inside its header, {self.size:,} bytes are here."
        )

    def _cover(self, end: int) -> None:
        """Have the buffer reach ``end``, reading ahead so that an array is not read string by string."""
        if end <= self._filled:
            return
        if end > self.size:
            raise self.cut_short()
        if end > MAX_HEADER_BYTES:
            raise self.broken(f"its header is larger than {MAX_HEADER_BYTES:,} bytes")
        wanted = max(end, self._filled + CHUNK)
        if (missing := wanted - len(self._buffer)) > 0:
            self._buffer += bytes(missing)
        with memoryview(self._buffer) as whole, whole[self._filled : wanted] as room:
            self._filled += self._file.readinto(room)
        if self._filled < end:  # cut while it was being read
            raise self.cut_short()

    @property
    def buffered(self) -> tuple[bytearray, int, int]:
        """A buffer that begins with what has been read of the file so far, how many bytes that is, and the position in
        it; not to be changed."""
        return self._buffer, self._filled, self.position

    def raw(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        end = self.position + count
        self._cover(end)
        data = bytes(self._buffer[self.position : end])
        self.position = end
        return data

    def scalar(self, value_type: int) -> int | float | bool:
        """One number or truth value."""
        form = SCALARS[value_type]
        self._cover(self.position + form.size)
        (value,) = form.unpack_from(self._buffer, self.position)
        self.position += form.size
        if not isinstance(value, (int, float)):
            raise TypeError(value_type)
        return value

    def numbers(self, form: struct.Struct) -> tuple[int, ...]:
        """Whole numbers that lie side by side."""
        end = self.position + form.size
        if end > self._filled:
            self._cover(end)
        found = form.unpack_from(self._buffer, self.position)
        self.position = end
        return found

    def u32(self) -> int:
        """An unsigned 32-bit number."""
        return self.numbers(_U32)[0]

    def u64(self) -> int:
        """An unsigned 64-bit number."""
        return self.numbers(_U64)[0]

    def string(self, what: str, cap: int = MAX_STRING_BYTES) -> str:
        """A string of at most ``cap`` bytes; bytes that are no UTF-8 become replacement marks, within limits."""
        length = self.u64()
        if length > cap:
            raise self.broken(f"{what} is said to have {length:,} bytes")
        written = self.raw(length)
        try:
            return written.decode("utf-8")
        except UnicodeDecodeError as error:
            self._mended += length
            if self._mended > MAX_MENDED_BYTES:
                raise self.broken(f"{what} is no text, from its byte {error.start:,} on") from error
            return written.decode("utf-8", "replace")

    def array(self, key: str, *, hashed: bool = False) -> ArraySpan:
        """Step over an array and say where it lies. ``hashed``: strings get their hash, where arrays are remembered."""
        item_type = self.u32()
        count = self.u64()
        if item_type == ValueType.ARRAY:
            words = f"{self.name} nests arrays in {key}, which the engine cannot read."
            raise HeaderError("unsupported", words, "get another conversion of this model")
        if item_type not in SCALARS and item_type != ValueType.STRING:
            raise self.broken(f"{key} holds items of the unknown type {item_type}")
        if count > MAX_ARRAY_ITEMS:
            raise self.broken(f"{key} is said to have {count:,} items")
        start, digest = self.position, None
        if item_type == ValueType.STRING:
            digest = self._strings(key, count, hashed=hashed)
        else:
            self.position += count * SCALARS[item_type].size
            self._cover(self.position)
        return ArraySpan(start, self.position - start, count, item_type, digest)

    def _strings(self, key: str, count: int, *, hashed: bool) -> str | None:
        """Step over strings; their hash, where it is wanted and arrays are remembered from file to file."""
        self._strings_left -= count
        if self._strings_left < 0:
            raise self.broken(f"its arrays hold more than {MAX_STRINGS:,} strings")
        start, seen = self.position, self._seen
        if seen is None:
            self._skip_strings(key, count)
            return None
        if (known := self._seen_before(seen, count)) is not None:
            self.position = start + len(known.data)
            return (known.digest or digest_of(memoryview(known.data))) if hashed else None
        self._skip_strings(key, count)
        with memoryview(self._buffer) as whole, whole[start : self.position] as data:
            digest = digest_of(data) if hashed else None
            seen.remember(count, data, digest)
        return digest

    def _seen_before(self, seen: SeenArrays, count: int) -> SeenArray | None:
        """The array of an earlier file that this file holds, too, from here on."""
        start, most = self.position, min(self.size, MAX_HEADER_BYTES)
        if start + EDGE > most:
            return None
        self._cover(start + EDGE)
        for known in seen.candidates(count, bytes(self._buffer[start : start + EDGE])):
            end = start + len(known.data)
            if end <= most:
                self._cover(end)
                if self._buffer.startswith(known.data, start):
                    return known
        return None

    def _skip_strings(self, key: str, count: int) -> None:
        if count * _U64.size > self.size - self.position:
            raise self.cut_short()
        start = position = self.position
        left, one_by_one = count, FEW
        quick = strides_pay(0 if self._seen is None else self._seen.walk(count))
        unpack = _U64.unpack_from
        while left:
            if quick and left > LEAST:
                end = min(self._filled, position + min(BLOCK, USUAL * left))
                with memoryview(self._buffer) as whole, whole[:end] as data:
                    stepped, start = stride(data, position, left)
                one_by_one = FEW if stepped * USUAL >= end - position else min(4 * one_by_one, MANY)
                left, position = left - stepped, start
            # The bare loop makes a header of 100,000 strings take 15 ms.
            buffer, last, stop = self._buffer, self._filled - 8, max(0, left - one_by_one) if quick else 0
            while left > stop and position <= last:
                (length,) = unpack(buffer, position)
                start = position
                position += 8 + length
                left -= 1
                if length > MAX_STRING_BYTES:
                    break
            if position - start > MAX_STRING_BYTES:
                raise self.broken(f"a string in {key} is said to have {position - start - 8:,} bytes")
            if left and position > last:
                self._cover(position + 8)
        self._cover(position)
        self.position = position
