"""In which pieces a prompt is read: large ones for speed, and none of a width that rounds otherwise."""

from __future__ import annotations

SMALL_CHUNK = 64
"""The smaller piece; attention takes its tiled kernel from 64 queries on."""


def next_chunk(left: int, chunk: int, widest: int | None) -> int:
    """Tokens of the next piece when ``left`` (>= 1) have still to be read in pieces of ``chunk`` at most.

    ``widest``: where only passes of up to so many tokens round like single ones, what does not fill a chunk of 64 is
    read in such passes; None: any remainder will do.
    """
    if widest is None or left >= chunk:
        return min(left, chunk)
    if left >= SMALL_CHUNK:
        return SMALL_CHUNK
    return min(left, widest)
