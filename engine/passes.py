"""By which passes a cache was filled: what must be repeated to round as the answer did.

In exact mode a cache does not depend on it. Elsewhere kernels differ from width to width, so an answer can be made
again, bit for bit, only by passes of the same widths. A pass whose draft was rejected in part is ``3/2``: three tokens
wide, two of them kept. ``512*3 37 1*40 3/2`` are three passes of 512 tokens, one of 37, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PASS = re.compile(r"(\d{1,6})(?:/(\d{1,6}))?(?:\*(\d{1,9}))?")


@dataclass(slots=True)
class _Alike:
    """``times`` passes of ``width`` tokens, ``kept`` of each still in the cache."""

    width: int
    kept: int
    times: int


class BadPasses(ValueError):
    """The text is no list of passes."""


class PassLog:
    """The passes of one cache, run-length encoded. Constant work per pass, amortised over what is cut."""

    def __init__(self) -> None:
        self._runs: list[_Alike] = []
        self.length = 0
        """Tokens that the passes left in the cache."""

    def add(self, width: int) -> None:
        """One more pass; all of its ``width`` tokens stay for now."""
        self.length += width
        last = self._runs[-1] if self._runs else None
        if last is not None and last.width == last.kept == width:
            last.times += 1
        else:
            self._runs.append(_Alike(width, width, 1))

    def cut(self, length: int) -> None:
        """Only the first ``length`` tokens are left."""
        while self.length > length:
            last = self._runs[-1]
            whole = min(last.times, (self.length - length) // last.kept)
            last.times -= whole
            self.length -= whole * last.kept
            if not last.times:
                self._runs.pop()
            elif self.length > length:
                last.times -= 1
                if not last.times:
                    self._runs.pop()
                self._runs.append(_Alike(last.width, last.kept - (self.length - length), 1))
                self.length = length

    def __str__(self) -> str:
        words: list[str] = []
        times: list[int] = []
        for run in self._runs:
            word = f"{run.width}" if run.kept == run.width else f"{run.width}/{run.kept}"
            if words and words[-1] == word:
                times[-1] += run.times
            else:
                words.append(word)
                times.append(run.times)
        return " ".join(f"{word}*{count}" if count > 1 else word for word, count in zip(words, times, strict=True))


def read_passes(text: str, *, widest: int) -> Iterator[tuple[int, int]]:
    """Width and kept tokens of each pass. Raises BadPasses where ``text`` is no list of passes of at most ``widest``
    tokens."""
    for word in text.split():
        match = _PASS.fullmatch(word)
        if match is None:
            raise BadPasses(f"{word[:20]!r} is no pass")
        width = int(match[1])
        kept = int(match[2] or width)
        if not 0 < kept <= width <= widest:
            raise BadPasses(f"a pass of {width} tokens, {kept} of them kept, is not possible here")
        for _ in range(int(match[3] or 1)):
            yield width, kept
