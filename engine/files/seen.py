"""String arrays met in earlier files, so that the next file of the same family is stepped over at once.

A header's time goes into walking over its vocabulary: 25 ms for 150,000 strings. Comparing their bytes with those of
an earlier file takes a tenth of a millisecond, hashing them two. An array of as many strings with the same bytes, over
the length the earlier array was found to have, is that same array: it ends where that one ended and has its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

EDGE = 256
"""Bytes at either end that are compared before anything is hashed."""

SMALL = 256
"""Arrays of fewer strings are walked over: remembering them costs more."""

MOST_ALIKE = 8
"""Arrays kept of those with one beginning and one count: a family's vocabularies that differ at their ends."""

MOST_BEGINNINGS = 512

MOST_HELD = 64 * 1024 * 1024
"""Bytes of arrays that are kept to compare with; those met behind them are known by their hashes."""


@dataclass(frozen=True, slots=True)
class SeenArray:
    """Length in bytes, the last bytes, the SHA-256 of all of them, and where there was room the bytes themselves."""

    length: int
    tail: bytes
    digest: str
    data: bytes | None = None


class SeenArrays:
    """A memory for the scan of many files. Let go of it when the scan is done."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], list[SeenArray]] = {}
        self._held = 0

    def candidates(self, count: int, head: bytes) -> Sequence[SeenArray]:
        """The arrays of ``count`` strings that began with ``head`` (EDGE bytes), the latest first."""
        return tuple(self._known.get((count, head), ()))

    def remember(self, count: int, data: memoryview, digest: str) -> None:
        """``data`` is an array of ``count`` strings."""
        if count < SMALL or len(data) < EDGE or len(self._known) >= MOST_BEGINNINGS:
            return
        held = bytes(data) if self._held + len(data) <= MOST_HELD else None
        self._held += len(held or b"")
        alike = self._known.setdefault((count, bytes(data[:EDGE])), [])
        alike.insert(0, SeenArray(len(data), bytes(data[-EDGE:]), digest, held))
        self._held -= sum(len(dropped.data or b"") for dropped in alike[MOST_ALIKE:])
        del alike[MOST_ALIKE:]


def digest_of(data: memoryview) -> str:
    """The SHA-256 that arrays are told apart by."""
    return hashlib.sha256(data).hexdigest()
