"""How much faster an answer was than plain decoding would have been: held against plain passes that were measured.

An answer's own plain passes count at their own time on both sides. What a drafted pass brought is held against plain
passes near it, in time and in context length: the load of the moment, another text or another model must not pass for
a merit of the drafter. Where there were none, there is no figure.
"""

from __future__ import annotations

import collections
import statistics

SPAN = 256
"""Context lengths that count as similar: within one span of each other. Longer contexts have longer spans."""

FRESH = 10.0
"""Seconds for which a plain pass tells what plain decoding costs."""

NEAREST, EVIDENCE = 7, 3
"""So many of the latest plain passes are looked at, and at least so many are needed."""

COVERED = 0.9
"""The part of an answer's tokens for which it must be known what they would have taken."""

SHORTEST = 16
"""Tokens below which a factor says nothing."""


def span_of(length: int) -> int:
    """The first length of the span that a context of ``length`` tokens lies in.

    >>> [span_of(n) for n in (0, 255, 256, 4000, 4096, 9000)]
    [0, 0, 256, 3840, 4096, 8192]
    """
    width = _width(length)
    return length // width * width


def _width(length: int) -> int:
    """An eighth of the power of two below ``length``, at least SPAN.

    >>> _width(100), _width(2100), _width(9000)
    (256, 256, 1024)
    """
    return max(SPAN, (1 << max(0, length.bit_length() - 1)) // 8)


class PlainSpeed:
    """The latest plain passes of a pair, whoever's answer they belong to."""

    def __init__(self) -> None:
        self._latest: collections.deque[tuple[float, int, float]] = collections.deque(maxlen=NEAREST * 4)

    def observe(self, now: float, length: int, seconds: float) -> None:
        """A plain pass behind ``length`` tokens took ``seconds``, choosing left out: that depends on the settings."""
        self._latest.append((now, span_of(length), seconds))

    def seconds(self, now: float, length: int) -> float | None:
        """What a plain pass behind ``length`` tokens takes at the moment; None without evidence."""
        span = span_of(length)
        similar = {span, span_of(max(0, span - 1)), span_of(span + _width(span))}
        near = [one for when, place, one in self._latest if place in similar and now - when <= FRESH][-NEAREST:]
        return statistics.median(near) if len(near) >= EVIDENCE else None


class AgainstPlain:
    """One answer against plain decoding, round by round."""

    def __init__(self, plain: PlainSpeed) -> None:
        self._plain = plain
        self._behind_draft = False
        self._tokens = self._known = 0
        self._took = self._would_take = 0.0

    def plain_round(self, now: float, length: int, seconds: float, *, draft: float, choose: float) -> None:
        """A pass behind ``length`` tokens without proposals took ``seconds`` in all; ``draft`` of them went into
        looking for some, which plain decoding would not have done, and ``choose`` into the choice. Right behind a
        drafted pass it is dearer than others (the library builds its graph anew for another width): that is charged
        to drafting, too."""
        if self._behind_draft:
            self.drafted_round(now, length, 1, seconds, draft=draft, choose=choose)
        else:
            self._plain.observe(now, length, seconds - draft - choose)
            self._add(1, seconds, seconds - draft)
        self._behind_draft = False

    def drafted_round(
        self, now: float, length: int, tokens: int, seconds: float, *, draft: float, choose: float
    ) -> None:
        """A pass with proposals behind ``length`` tokens brought ``tokens``. It cannot have cost less than a plain one
        at that moment, so plain decoding is not believed to have been slower."""
        self._behind_draft = True
        plain = self._plain.seconds(now, length)
        if plain is None:
            self._tokens += tokens
        else:
            self._add(tokens, seconds, tokens * min(plain, seconds - draft - choose) + choose)

    def _add(self, tokens: int, took: float, would_take: float) -> None:
        self._tokens += tokens
        self._known += tokens
        self._took += took
        self._would_take += would_take

    @property
    def factor(self) -> float | None:
        """How many times as fast as plain decoding; None where too little of it was measured."""
        if self._took <= 0 or self._tokens < SHORTEST or self._known < COVERED * self._tokens:
            return None
        return self._would_take / self._took
