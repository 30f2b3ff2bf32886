"""From token bytes to text that may be shown: whole characters only, and nothing of a stop string.

Both halves cost the same per token however long the answer is, and neither depends on how the text is cut into
tokens: the same bytes give the same text and the same stop.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass


class Utf8Stream:
    """Incremental UTF-8: a character comes out with the byte that completes it.

    The joined output equals ``data.decode("utf-8", "replace")`` of all bytes so far, without an incomplete character
    at the very end: half a character is left out of an answer, never shown as a replacement mark.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, data: bytes) -> str:
        """The characters that ``data`` completes."""
        return self._decoder.decode(data)

    @property
    def incomplete(self) -> bytes:
        """The first bytes of a character whose rest has not come yet."""
        return self._decoder.getstate()[0]


@dataclass(frozen=True, slots=True)
class StopMatch:
    """Which stop string ended the text, and at which character of the text it begins: a negative one where it begins
    before the text, in what was said to stand there already (:meth:`StopStrings.behind`)."""

    stop: str
    start: int


class StopStrings:
    """Finds stop strings in streamed text (Aho-Corasick), holding back only what may still become one.

    The first stop string to be *completed* wins; of those that one character completes, the longest, which begins
    first. So the text ends where a reader of the stream could first know that it must, with no token to wait for.
    Empty stop strings are ignored.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._fail: list[int] = [0]
        self._depth: list[int] = [0]
        self._stop: list[str | None] = [None]
        for stop in stops:
            if stop:
                self._add(stop)
        self._link()
        self._state = 0
        self._held = ""  # always the last depth[state] characters of the text
        self._shown = 0  # so many of the next characters to be released were shown before
        self._released = 0
        self.match: StopMatch | None = None

    def _add(self, stop: str) -> None:
        node = 0
        for char in stop:
            child = self._next[node].get(char)
            if child is None:
                child = len(self._next)
                self._next[node][char] = child
                self._next.append({})
                self._fail.append(0)
                self._depth.append(self._depth[node] + 1)
                self._stop.append(None)
            node = child
        self._stop[node] = stop

    def _link(self) -> None:
        """Point every node at the longest proper suffix of it that is a node, breadth first."""
        queue = deque(self._next[0].values())
        while queue:
            node = queue.popleft()
            for char, child in self._next[node].items():
                self._fail[child] = self._follow(self._fail[node], char)
                queue.append(child)
            if self._stop[node] is None:  # a shorter stop string that ends here
                self._stop[node] = self._stop[self._fail[node]]

    def _follow(self, node: int, char: str) -> int:
        while True:
            child = self._next[node].get(char)
            if child is not None:
                return child
            if node == 0:
                return 0
            node = self._fail[node]

    def behind(self, text: str) -> bool:
        """Before the first :meth:`push`: ``text`` stands there already. A stop string may begin in it, and count once
        it is completed by what is pushed; one that ends within it does not. Returns whether one does."""
        whole, ended = self._held + text, False
        for char in text:
            self._state = self._follow(self._state, char)
            ended = ended or self._stop[self._state] is not None
        self._shown = self._depth[self._state]
        self._held = whole[len(whole) - self._shown :]
        self._released = -self._shown
        return ended

    def push(self, text: str) -> str:
        """The text that can be shown now. After a match (see :attr:`match`) everything further is dropped."""
        if self.match is not None:
            return ""
        if len(self._next) == 1:
            self._released += len(text)
            return text
        whole = self._held + text
        for index in range(len(self._held), len(whole)):
            self._state = self._follow(self._state, whole[index])
            stop = self._stop[self._state]
            if stop is not None:
                start = index + 1 - len(stop)
                self.match = StopMatch(stop, self._released + start)
                self._held = ""
                self._released += start
                return self._new(whole[:start])
        kept = len(whole) - self._depth[self._state]
        self._held = whole[kept:]
        self._released += kept
        return self._new(whole[:kept])

    def finish(self) -> str:
        """What was held back and did not become a stop string."""
        held, self._held, self._state = self._held, "", 0
        self._released += len(held)
        return self._new(held)

    def _new(self, text: str) -> str:
        """``text`` without what was shown before."""
        shown = min(self._shown, len(text))
        self._shown -= shown
        return text[shown:]


@dataclass(frozen=True, slots=True)
class Piece:
    """What one token adds to the shown text, how many characters it completes (shown now, later or, within a stop
    string, never), and whether a stop string is now complete."""

    text: str
    completed: int
    stopped: bool


class TextStream:
    """The text of one answer, token by token: :class:`Utf8Stream` into :class:`StopStrings`."""

    def __init__(self, stops: Iterable[str] = ()) -> None:
        self._characters = Utf8Stream()
        self._stops = StopStrings(stops)

    def behind(self, pieces: Iterable[bytes]) -> bool:
        """Before the first :meth:`push`: the bytes of these tokens stand there already. Returns whether the last of
        them completes a stop string."""
        ended = False
        for piece in pieces:
            ended = self._stops.behind(self._characters.push(piece))
        return ended

    def push(self, piece: bytes) -> Piece:
        """Take the bytes of one token. Once stopped, further bytes add nothing."""
        characters = self._characters.push(piece)
        text = self._stops.push(characters)
        return Piece(text, len(characters), self._stops.match is not None)

    def finish(self) -> str:
        """End the answer: release what was held back for a stop string, leave out an incomplete character."""
        return self._stops.finish()

    @property
    def match(self) -> StopMatch | None:
        """The stop string that ended the text and where it begins, None while there is none."""
        return self._stops.match


def shown_lengths(completed: Iterable[int], shown: int) -> tuple[int, ...]:
    """How many characters of the shown text belong to each token. A character belongs to the token that completes it;
    what lies behind the ``shown`` first ones was cut off by a stop string and belongs to nobody."""
    lengths: list[int] = []
    for count in completed:
        lengths.append(min(count, shown))
        shown -= lengths[-1]
    return tuple(lengths)
