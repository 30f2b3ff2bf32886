"""What keeps a text from repeating itself: repeat, frequency and presence penalties, and DRY.

llama.cpp's links of the same names (llama-sampler.cpp) in a form that does not look through the text for each token
(see :mod:`engine.repeats`), changes only the few logits that are penalised, and can take tokens back after a round of
proposals. Both see the prompt and every token of the answer, in order, and nothing else.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.protocol import Sampling
from engine.repeats import InText, InWindow, Repeats

MAX_TAIL = 20
"""Longest tail of a sequence breaker, in tokens."""

_FLOAT_MAX = 3.4e38
_FLOAT_MAX_LOG = 88.7228391


class Penalties:
    """Repeat, frequency and presence penalties over the last ``repeat_last_n`` tokens."""

    def __init__(self, sampling: Sampling, prompt: Sequence[int]) -> None:
        self._repeat = np.float32(sampling.repeat_penalty)
        self._frequency = np.float32(sampling.frequency_penalty)
        self._presence = np.float32(sampling.presence_penalty)
        self._window = sampling.repeat_last_n
        self._tokens: list[int] = []
        self._counts: dict[int, int] = {}
        for token in prompt if self._window < 0 else prompt[-self._window :]:
            self.accept(token)

    @staticmethod
    def wanted(sampling: Sampling) -> bool:
        """Whether these settings penalise anything."""
        changes = sampling.repeat_penalty != 1 or sampling.frequency_penalty or sampling.presence_penalty
        return bool(changes and sampling.repeat_last_n)

    def accept(self, token: int) -> None:
        """One more token of the text; the oldest one leaves the window."""
        self._tokens.append(token)
        self._add(token, 1)
        if 0 <= self._window < len(self._tokens):
            self._add(self._tokens[-1 - self._window], -1)

    def _add(self, token: int, more: int) -> None:
        count = self._counts.get(token, 0) + more
        if count:
            self._counts[token] = count
        else:
            del self._counts[token]

    def mark(self) -> int:
        """Where the text ends now, for :meth:`take_back`."""
        return len(self._tokens)

    def take_back(self, mark: int) -> None:
        """Forget the tokens accepted since ``mark``."""
        while len(self._tokens) > mark:
            if 0 <= self._window < len(self._tokens):
                self._add(self._tokens[-1 - self._window], 1)
            self._add(self._tokens.pop(), -1)

    def apply(self, row: NDArray[np.float32]) -> None:
        """Change the logits of the tokens in the window."""
        ids = np.fromiter(self._counts.keys(), np.intp, len(self._counts))
        counts = np.fromiter(self._counts.values(), np.float32, len(self._counts))
        if len(ids) and ids.max() >= len(row):  # a draft's vocabulary may end before the target's
            counts = counts[ids < len(row)]
            ids = ids[ids < len(row)]
        values = row[ids]
        # The paper only divides, which would make tokens with negative logits more likely (llama.cpp's remark).
        values = np.where(values <= 0, values * self._repeat, values / self._repeat)
        row[ids] = values - (counts * self._frequency + self._presence)


class Dry:
    """Don't Repeat Yourself (p-e-w, text-generation-webui pull 5677): what would continue a repetition is penalised
    the more, the longer the repetition is already.

    ``breakers``: head token -> tails; a repetition is not followed beyond a breaker.
    """

    def __init__(self, sampling: Sampling, prompt: Sequence[int], breakers: Mapping[int, Sequence[tuple[int, ...]]]):
        self._multiplier = float(np.float32(sampling.dry_multiplier))
        self._base = float(np.float32(sampling.dry_base))
        self._allowed = sampling.dry_allowed_length
        self._window = sampling.dry_penalty_last_n
        self._breakers = breakers
        self._single = {head for head, tails in breakers.items() if () in tails}
        self._max_exponent = int(_FLOAT_MAX_LOG / math.log(self._base)) if self._base > 1.000001 else 0
        self._tokens = list(prompt if self._window < 0 else prompt[-self._window :])
        self._breaker = self._last_breaker(len(self._tokens))
        """Where the last one begins, and where the text behind it does; -1, 0: there is none."""
        # A repetition that is longer than the largest exponent tells is penalised no more.
        most = self._allowed + self._max_exponent if self._max_exponent or self._base == 1 else sys.maxsize
        self._repeats: Repeats = (
            InText(prompt, least=self._allowed, most=most) if self._window < 0 else InWindow(self._window, prompt)
        )

    @staticmethod
    def wanted(sampling: Sampling) -> bool:
        """Whether these settings penalise anything."""
        return bool(sampling.dry_multiplier and sampling.dry_penalty_last_n)

    def accept(self, token: int) -> None:
        """One more token of the text."""
        self._tokens.append(token)
        self._repeats.append(token)
        found = self._last_breaker(MAX_TAIL + 1)
        if found[0] >= 0:
            self._breaker = found

    def mark(self) -> tuple[int, tuple[int, int], Any]:
        """What the text is now, for :meth:`take_back`; an earlier mark is worth nothing any more."""
        return len(self._tokens), self._breaker, self._repeats.mark()

    def take_back(self, mark: tuple[int, tuple[int, int], Any]) -> None:
        """Forget the tokens accepted since ``mark``, the last one."""
        length, self._breaker, repeats = mark
        del self._tokens[length:]
        self._repeats.take_back(repeats)

    def _last_breaker(self, reach: int) -> tuple[int, int]:
        """The last breaker that begins within ``reach`` tokens of the end: where it begins and where it ends."""
        tokens = self._tokens
        for head in range(len(tokens) - 1, max(-1, len(tokens) - 1 - reach), -1):
            tails = [
                len(tail)
                for tail in self._breakers.get(tokens[head], ())
                if tuple(tokens[head + 1 : head + 1 + len(tail)]) == tail
            ]
            if tails:
                return head, head + 1 + max(tails)
        return -1, 0

    def apply(self, row: NDArray[np.float32]) -> None:
        """Lower the logits of the tokens that would continue a repetition."""
        length, (head, start) = len(self._tokens), self._breaker
        first = max(0, length - self._window) if self._window >= 0 else 0
        limit = length - start if head >= first else length - first
        if length - first <= self._allowed or limit < self._allowed:
            return
        for token, repeated in self._repeats.found(limit):
            if repeated < self._allowed or token in self._single or token >= len(row):
                continue
            exponent = repeated - self._allowed
            if self._max_exponent:
                exponent = min(exponent, self._max_exponent)
            row[token] -= np.float32(min(self._multiplier * self._base**exponent, _FLOAT_MAX))
