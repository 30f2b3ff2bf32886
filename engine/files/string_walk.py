"""Stepping over an array of strings many at a time.

Each string tells where the next one begins, so they are walked one by one, 140 ns each; unless something guesses where
they begin, and the guess is then proved for all of them at once. Seven of the eight bytes of a short string's length
are zero, and text holds no zeros. Seven zeros side by side cover exactly one aligned word of four, so the words that
are zero tell where the lengths stand.
"""

from __future__ import annotations

import sys
from typing import Final

BLOCK: Final = 1 << 18
"""Bytes looked at in one go."""
USUAL: Final = 64
"""Bytes of a string with its length, at most, where looking at many pays. Those of vocabularies have 20."""
LEAST: Final = 1024
"""Strings that there must be, for the same reason."""
PAID: Final = 1_000_000
"""Strings walked one by one behind which loading numpy pays: walking so many takes as long as that, 0.12 s."""


def strides_pay(walked: int) -> bool:
    """Whether to take :func:`stride` in this process, which has ``walked`` over so many strings."""
    return walked > PAID or "numpy" in sys.modules


def stride(data: memoryview, start: int, count: int) -> tuple[int, int]:
    """From the string at ``start`` (4 or more) over at most ``count`` strings that end inside ``data``: how many, and
    where the next one begins. It may be fewer than lie there, none even, and is never a wrong place."""
    import numpy as np  # not before it pays: most starts look at few files

    end, first = len(data), start + -start % 4 - 4
    if (length := (end - first) // 4) < 4:
        return 0, start
    words = np.frombuffer(data, "<u4", length, first)
    zero = np.flatnonzero(words[1:] == 0)
    if zero.size > length // 2:  # every other word: no text
        return 0, start
    before = words[zero := zero[: count + 1]]
    # Zeros of the same length that stand before the zero word, three at most.
    places = (zero * 4 + (first + 3)) - (before < 1 << 24) - (before < 1 << 16) - (before < 1 << 8)
    places = places[: np.searchsorted(places, end - 8, "right")]
    if not places.size or places[0] != start:
        return 0, start
    # The proof: what stands at each place, all eight bytes of it, leads to the next place.
    lengths = np.ndarray((end - 7,), "<i8", data, strides=(1,))[places[:-1]]
    wrong = np.flatnonzero((lengths < 0) | (np.diff(places) - 8 != lengths))
    stepped = int(wrong[0]) if wrong.size else places.size - 1
    return stepped, int(places[stepped])
