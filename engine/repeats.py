"""Where a text repeats itself: which tokens would continue a repetition of its end, and how long that would be.

For a text that is looked at as a whole the answer is read off its suffix automaton (Blumer et al. 1985), so that it
costs the same few steps however long the text is; where only a window counts, off the places in that window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Repeats(Protocol):
    """A text that grows, and can be cut back to where it was marked last."""

    def append(self, token: int) -> None:
        """The text grows by ``token``."""

    def mark(self) -> Any:
        """What the text is now, for :meth:`take_back`; marks made before are worth nothing any more."""

    def take_back(self, mark: Any) -> None:
        """Forget what was appended since the last mark."""

    def found(self, limit: int) -> Iterator[tuple[int, int]]:
        """(token, length of the longest repetition that it would continue, ``limit`` at most), each token once.
        ``limit``: no smaller than the shortest repetition that counts."""


class InText:
    """In the whole text. ``least``: shorter repetitions do not count; ``most``: longer ones count as so long.

    A state stands for all ends of the text's parts that are followed by the same tokens at the same places, the longest
    of them ``length`` tokens long; its ``link`` is the state of the longest shorter end that stands at more places.
    """

    def __init__(self, text: Sequence[int], *, least: int, most: int) -> None:
        self._least, self._most = least, most
        self._next: list[dict[int, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._whole = self._short = self._long = 0
        """The states of the whole text, and of its last ``least`` and ``most`` tokens."""
        self._undo: list[tuple[Any, int, int | None]] | None = None
        """What was changed since the mark: where, and what stood there; None: nothing will be taken back."""
        for token in text:
            self.append(token)

    def append(self, token: int) -> None:
        before, self._whole = self._whole, self._new({}, self._length[self._whole] + 1, 0)
        state = before
        while state >= 0 and token not in self._next[state]:
            self._set(self._next[state], token, self._whole)
            state = self._link[state]
        if state >= 0:
            self._set(self._link, self._whole, self._known(state, token))
        self._short = self._end(self._next[self._short][token], self._least)
        self._long = self._end(self._next[self._long][token], self._most)

    def _known(self, state: int, token: int) -> int:
        """The state of the text's longest end that stood there before: that of ``state`` and the token behind it."""
        followed, length = self._next[state][token], self._length[state] + 1
        if self._length[followed] == length:
            return followed
        shorter = self._new(self._next[followed].copy(), length, self._link[followed])
        while state >= 0 and self._next[state].get(token) == followed:
            self._set(self._next[state], token, shorter)
            state = self._link[state]
        self._set(self._link, followed, shorter)
        return shorter

    def _end(self, state: int, length: int) -> int:
        """The state of the text's last ``length`` tokens, from that of some more of them."""
        while self._length[self._link[state]] >= length:
            state = self._link[state]
        return state

    def _new(self, followed: dict[int, int], length: int, link: int) -> int:
        self._next.append(followed)
        self._length.append(length)
        self._link.append(link)
        return len(self._next) - 1

    def _set(self, where: Any, key: int, value: int) -> None:
        if self._undo is not None:
            self._undo.append((where, key, where.get(key) if isinstance(where, dict) else where[key]))
        where[key] = value

    def mark(self) -> tuple[int, int, int, int]:
        self._undo = []
        return len(self._next), self._whole, self._short, self._long

    def take_back(self, mark: tuple[int, int, int, int]) -> None:
        for where, key, value in reversed(self._undo or []):
            if value is None:
                del where[key]
            else:
                where[key] = value
        self._undo = None
        states, self._whole, self._short, self._long = mark
        del self._next[states:], self._length[states:], self._link[states:]

    def found(self, limit: int) -> Iterator[tuple[int, int]]:
        state, all_of_them = self._link[self._whole], len(self._next[self._short])
        if state > 0 and self._length[state] > self._most:
            state = self._long
        seen: set[int] = set()
        while state > 0 and self._length[state] >= self._least and len(seen) < all_of_them:
            length = min(self._length[state], self._most, limit)
            for token in self._next[state].keys() - seen:
                seen.add(token)
                yield token, length
            state = self._link[state]


class InWindow:
    """In the last ``window`` tokens only."""

    def __init__(self, window: int, text: Sequence[int]) -> None:
        self._window = window
        self._tokens = list(text[-window:])
        self._places: dict[int, list[int]] = {}
        for place, token in enumerate(self._tokens):
            self._places.setdefault(token, []).append(place)
        self._matches: Mapping[int, int] = _matches(np.array(self._tokens, np.int64))
        """Earlier place -> how many tokens up to and with it equal the end of the text."""

    def append(self, token: int) -> None:
        first, before = len(self._tokens) + 1 - self._window, self._matches
        places = self._places.setdefault(token, [])
        in_window = takewhile(lambda place: place >= first, reversed(places))
        self._matches = {place: before.get(place - 1, 0) + 1 for place in in_window}
        places.append(len(self._tokens))
        self._tokens.append(token)

    def mark(self) -> tuple[int, Mapping[int, int]]:
        return len(self._tokens), self._matches

    def take_back(self, mark: tuple[int, Mapping[int, int]]) -> None:
        length, self._matches = mark
        while len(self._tokens) > length:
            self._places[self._tokens.pop()].pop()

    def found(self, limit: int) -> Iterator[tuple[int, int]]:
        first = max(0, len(self._tokens) - self._window)
        longest: dict[int, int] = {}
        for place, match in self._matches.items():
            token, length = self._tokens[place + 1], min(match, limit, place + 1 - first)
            longest[token] = max(length, longest.get(token, 0))
        yield from longest.items()


def _matches(tokens: NDArray[np.int64]) -> dict[int, int]:
    """Of every earlier place with any."""
    end = len(tokens) - 1
    places = np.flatnonzero(tokens[:-1] == tokens[-1]) if end > 0 else np.empty(0, np.int64)
    found: dict[int, int] = {}
    length = 1
    while len(places):
        going_on = places - length >= 0
        going_on[going_on] = tokens[places[going_on] - length] == tokens[end - length]
        found.update(dict.fromkeys(places[~going_on].tolist(), length))
        places = places[going_on]
        length += 1
    return found
