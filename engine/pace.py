"""How fast an answer was, from its beginning to its end, in a bounded number of stretches."""

from __future__ import annotations

from typing import Final

MOST: Final = 64
"""Stretches kept. When there would be more, neighbours are joined and each covers twice as many passes from then on."""


class Pace:
    """Tokens and seconds of an answer in stretches of equally many passes, the last one perhaps unfinished.

    Passes, not seconds: a stretch of time in which no pass ended would say that nothing happened.
    """

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._seconds: list[float] = []
        self._passes = 1
        """Passes in a whole stretch."""
        self._room = 0
        """Passes that the last stretch still takes."""

    def count(self, tokens: int, seconds: float) -> None:
        """One more pass."""
        if self._room == 0:
            if len(self._tokens) == MOST:
                self._join()
            self._tokens.append(0)
            self._seconds.append(0.0)
            self._room = self._passes
        self._tokens[-1] += tokens
        self._seconds[-1] += seconds
        self._room -= 1

    def rates(self) -> tuple[float, ...]:
        """Tokens per second of every stretch so far, to two decimals."""
        return tuple(
            round(tokens / seconds, 2)
            for tokens, seconds in zip(self._tokens, self._seconds, strict=True)
            if seconds > 0
        )

    def _join(self) -> None:
        self._tokens = [sum(self._tokens[at : at + 2]) for at in range(0, MOST, 2)]
        self._seconds = [sum(self._seconds[at : at + 2]) for at in range(0, MOST, 2)]
        self._passes *= 2
