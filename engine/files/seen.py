"""String arrays met in earlier files, so that the next file of the same family is stepped over at once.

A header's time goes into walking over its vocabulary: 25 ms for 150,000 strings. Comparing their bytes with those of
an earlier file takes a fraction of a millisecond. An array of as many strings with the same bytes, over the length the
earlier array was found to have, is that same array: it ends where that one ended and has its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

EDGE = 256
"""Bytes at the beginning by which an array is looked up."""

SMALL = 256
"""Arrays of fewer strings are walked over: remembering them costs more."""

MOST_ALIKE = 8
"""Arrays kept of those with one beginning and one count: a family's vocabularies that differ further on."""

MOST_HELD = 64 * 1024 * 1024
"""Bytes of arrays that are kept; those met behind them are walked over in every file."""

MOST_LENT = 16 * 1024 * 1024
"""Bytes of the buffer that is kept for the next file."""


@dataclass(frozen=True, slots=True)
class SeenArray:
    """The bytes of an array, and their SHA-256 where somebody wanted it."""

    data: bytes
    digest: str | None


class SeenArrays:
    """A memory for the scan of many files, one behind the other. Let go of it when the scan is done."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], list[SeenArray]] = {}
        self._held = 0
        self._walked = 0
        self._buffer = bytearray()

    @property
    def buffer(self) -> bytearray:
        """Memory to read the next file into: taking it anew for each one costs more than reading. What it holds is of
        no meaning."""
        if len(self._buffer) > MOST_LENT:
            self._buffer = bytearray()
        return self._buffer

    def walk(self, count: int) -> int:
        """``count`` more strings are to be walked over; how many it were before."""
        before = self._walked
        self._walked += count
        return before

    def candidates(self, count: int, head: bytes) -> Sequence[SeenArray]:
        """The arrays of ``count`` strings that began with ``head`` (EDGE bytes), the latest first."""
        return tuple(self._known.get((count, head), ()))

    def remember(self, count: int, data: memoryview, digest: str | None) -> None:
        """``data`` is an array of ``count`` strings."""
        if count < SMALL or len(data) < EDGE or self._held + len(data) > MOST_HELD:
            return
        alike = self._known.setdefault((count, bytes(data[:EDGE])), [])
        alike.insert(0, SeenArray(bytes(data), digest))
        self._held += len(data) - sum(len(dropped.data) for dropped in alike[MOST_ALIKE:])
        del alike[MOST_ALIKE:]


def digest_of(data: memoryview) -> str:
    """The SHA-256 that vocabularies are told apart by."""
    return hashlib.sha256(data).hexdigest()
