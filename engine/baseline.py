"""Plain decoding as it was measured here, and so how much faster an answer was than plain decoding would have been.

Every pass over a single token tells what a plain token costs at its context length, whatever mode is on. An answer's
speed-up is what its tokens would have taken plainly, at their own context lengths, over what they took. Where plain
passes at a similar length are missing there is no figure: none is estimated, and none is carried over from another
length, another pair or another run of the engine.
"""

from __future__ import annotations

import collections
import statistics

SPAN = 256
"""Context lengths that count as similar: within one span of each other. Longer contexts have longer spans."""

KEPT = 48
"""Plain passes kept a span: the latest, so that the load of the moment counts on both sides of the ratio."""

EVIDENCE = 4
"""Plain passes needed at a similar length before anything is said."""

COVERED = 0.9
"""The part of an answer's tokens that must lie where plain passes were measured."""


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
    """Seconds of a plain pass by context length: one pair's, in this run of the engine."""

    def __init__(self) -> None:
        self._seconds: dict[int, collections.deque[float]] = {}
        self._typical: dict[int, float | None] = {}

    def observe(self, length: int, seconds: float) -> None:
        """A plain pass behind ``length`` tokens took ``seconds``, with everything the loop does for a token."""
        self._seconds.setdefault(span_of(length), collections.deque(maxlen=KEPT)).append(seconds)
        self._typical.clear()

    def seconds(self, span: int) -> float | None:
        """What a plain token takes in this span of lengths; None without enough evidence there and next to it."""
        if span not in self._typical:
            self._typical[span] = self._judge(span)
        return self._typical[span]

    def _judge(self, span: int) -> float | None:
        found = list(self._seconds.get(span, ()))
        if len(found) < EVIDENCE:
            for near in {span_of(max(0, span - 1)), span_of(span + _width(span))} - {span}:
                found += self._seconds.get(near, ())
        # The median, not the mean: what held up single passes is no merit of those that were spared it.
        return statistics.median(found) if len(found) >= EVIDENCE else None


class AnswerTimes:
    """Tokens and seconds of one answer by span of context lengths."""

    def __init__(self) -> None:
        self._spans: dict[int, tuple[int, float]] = {}

    def add(self, length: int, tokens: int, seconds: float) -> None:
        """A pass behind ``length`` tokens gave ``tokens`` in ``seconds``, drafting and bookkeeping included."""
        span = span_of(length)
        before = self._spans.get(span, (0, 0.0))
        self._spans[span] = (before[0] + tokens, before[1] + seconds)

    def against(self, plain: PlainSpeed) -> float | None:
        """How many times as fast as plain decoding; None where too little of it was measured."""
        every = covered = 0
        took = would_take = 0.0
        for span, (tokens, seconds) in self._spans.items():
            every += tokens
            each = plain.seconds(span)
            if each is not None:
                covered, took, would_take = covered + tokens, took + seconds, would_take + tokens * each
        return would_take / took if took > 0 and covered >= COVERED * every else None
