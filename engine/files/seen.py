"""String arrays met in earlier files, so that the next file of the same family is stepped over at once.

A header's time goes into walking over its vocabulary: 25 ms for 150,000 strings, while hashing their bytes takes two.
An array of as many strings whose bytes, over the length an earlier array was found to have, hash alike is that same
array, and so it ends where that one ended.
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


@dataclass(frozen=True, slots=True)
class SeenArray:
    """Length in bytes, the last bytes, and the SHA-256 of all of them."""

    length: int
    tail: bytes
    digest: str


class SeenArrays:
    """A memory for the scan of many files. Holds no array, only what tells one from another."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], list[SeenArray]] = {}

    def candidates(self, count: int, head: bytes) -> Sequence[SeenArray]:
        """The arrays of ``count`` strings that began with ``head`` (EDGE bytes), the latest first."""
        return tuple(self._known.get((count, head), ()))

    def remember(self, count: int, data: memoryview, digest: str) -> None:
        """``data`` is an array of ``count`` strings."""
        if count < SMALL or len(data) < EDGE or len(self._known) >= MOST_BEGINNINGS:
            return
        alike = self._known.setdefault((count, bytes(data[:EDGE])), [])
        alike.insert(0, SeenArray(len(data), bytes(data[-EDGE:]), digest))
        del alike[MOST_ALIKE:]


def digest_of(data: memoryview) -> str:
    """The SHA-256 that arrays are told apart by."""
    return hashlib.sha256(data).hexdigest()
