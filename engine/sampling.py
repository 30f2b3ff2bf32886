"""The target's choice at one position: filtered candidates and seeded Gumbel selection.

``choose`` depends on (logits, settings, seed, position) alone. Who drafted, how long the draft was and how a pass was
cut cannot reach it, so the answer is the same with speculation on or off (promise 2).
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.llama.samplers import FilterChain
from engine.protocol import Sampling

_MASK = (1 << 64) - 1
_PHI = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, the increment of splitmix64
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

_BLOCK = 64  # logits per block of the top-k bound


def random_seed() -> int:
    """A fresh seed for one answer; small enough that JSON readers with 53-bit numbers keep it whole."""
    return secrets.randbits(48)


def gumbel(seed: int, position: int, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """Standard Gumbel noise g(seed, position, id) for every id: a pure function, so every pass sees the same.

    splitmix64's finalizer (Steele, Lea, Flood 2014) over a key of seed and position and a stream of token ids gives a
    uniform in (0, 1); -log(-log u) is Gumbel. argmax(log p + g) is then an exact sample from p (the Gumbel-max trick;
    shared between draft and target: Daliri, Musco, Suresh, arXiv 2408.07978).
    """
    key = _finalize(_finalize((seed * _PHI + 1) & _MASK) ^ ((position * _PHI) & _MASK))
    state = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(_PHI) ^ np.uint64(key)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_MIX_1)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_MIX_2)
    state ^= state >> np.uint64(31)
    uniform = ((state >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    noise: NDArray[np.float64] = -np.log(-np.log(uniform))
    return noise


def _finalize(value: int) -> int:
    value = ((value ^ (value >> 30)) * _MIX_1) & _MASK
    value = ((value ^ (value >> 27)) * _MIX_2) & _MASK
    return value ^ (value >> 31)


class Chooser:
    """One model's choice rule for one answer; the draft model gets one of its own with the same seed.

    Temperature 0: arg max. Otherwise arg max of the filtered, scaled logits plus Gumbel noise.
    ``suppressed`` ids are never chosen. Not thread-safe.
    """

    def __init__(self, vocabulary_size: int, sampling: Sampling, seed: int, suppressed: tuple[int, ...] = ()) -> None:
        self._seed = seed
        self._greedy = sampling.temperature == 0
        self._top_k = sampling.top_k
        self._ids = np.arange(vocabulary_size, dtype=np.int32)
        self._suppressed = np.array(suppressed, np.intp)
        self._chain = None if self._greedy else FilterChain(sampling, vocabulary_size)

    def choose(self, logits: NDArray[np.float32], position: int) -> int:
        """The token at ``position`` (its index in the sequence), from one row of logits of shape (vocabulary,)."""
        if self._suppressed.size:
            logits = logits.copy()
            logits[self._suppressed] = -np.inf
        if self._chain is None:
            return int(logits.argmax())
        ids = top_candidates(logits, self._top_k)
        survivors, scaled = self._chain.apply(self._ids if ids is None else ids, logits if ids is None else logits[ids])
        return int(survivors[np.argmax(scaled + gumbel(self._seed, position, survivors))])

    def propose(self, logits: NDArray[np.float32], position: int) -> tuple[int, float]:
        """``choose``, and by how much the choice beats the second-best candidate, noise included: the smaller the
        margin, the likelier another model chooses otherwise. Infinite where there is no second."""
        if self._chain is None:
            ids = top_candidates(logits, 2)
            scores: NDArray[np.floating[Any]] = logits if ids is None else logits[ids]
            survivors = self._ids if ids is None else ids
        else:
            ids = top_candidates(logits, self._top_k)
            survivors, scaled = self._chain.apply(
                self._ids if ids is None else ids, logits if ids is None else logits[ids]
            )
            scores = scaled + gumbel(self._seed, position, survivors)
        best = int(scores.argmax())
        token = int(survivors[best])
        if len(scores) < 2:
            return token, math.inf
        second = np.partition(scores, len(scores) - 2)[len(scores) - 2]
        return token, float(scores[best] - second)


def top_candidates(logits: NDArray[np.float32], top_k: int) -> NDArray[np.int32] | None:
    """Ids that certainly include the ``top_k`` largest logits, few enough to sort; None when a bound is not worth it.

    The k-th largest of the maxima of disjoint blocks is a lower bound of the k-th largest value, since k blocks each
    hold one value at least that large. One sweep and no sort of the vocabulary.
    """
    blocks = len(logits) // _BLOCK
    if top_k <= 0 or blocks < 4 * top_k:
        return None
    # Blocks are columns, not rows: numpy's maximum over the first axis is vectorised, ten times faster.
    maxima = logits[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
    bound = np.partition(maxima, blocks - top_k)[blocks - top_k]
    found: NDArray[np.int32] = np.flatnonzero(logits >= bound).astype(np.int32)
    return found
