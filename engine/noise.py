"""Randomness that is a pure function of (seed, position, what for): every pass and every drafter sees the same."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_PHI = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, the increment of splitmix64
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

XTC = 1 << 32
"""The stream of XTC's chance; token ids, the other streams, are smaller."""

_FEW = 10
"""Up to so many ids are hashed one by one: behind a pass, with cold caches, twenty numpy calls take longer."""


def random_seed() -> int:
    """A fresh seed for one answer; small enough that JSON readers with 53-bit numbers keep it whole."""
    return secrets.randbits(48)


def gumbel(seed: int, position: int, ids: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
    """Standard Gumbel noise g(seed, position, id) for every id: a pure function, so every pass sees the same.

    splitmix64's finalizer (Steele, Lea, Flood 2014) over a key of seed and position and a stream of token ids gives a
    uniform in (0, 1); -log(-log u) is Gumbel. argmax(log p + g) is then an exact sample from p (the Gumbel-max trick;
    shared between draft and target: Daliri, Musco, Suresh, arXiv 2408.07978).
    """
    if len(ids) <= _FEW:
        key = _key(seed, position)
        few = [-math.log(-math.log(_uniform(_finalize(((token + 1) * _PHI & _MASK) ^ key)))) for token in ids.tolist()]
        return np.array(few, np.float64)
    state = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(_PHI) ^ np.uint64(_key(seed, position))
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_MIX_1)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_MIX_2)
    state ^= state >> np.uint64(31)
    uniform = ((state >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    noise: NDArray[np.float64] = -np.log(-np.log(uniform))
    return noise


def chance(seed: int, position: int, stream: int) -> float:
    """A uniform number in (0, 1) for one link at one position, by the same hash."""
    return _uniform(_finalize(((stream + 1) * _PHI & _MASK) ^ _key(seed, position)))


def _uniform(state: int) -> float:
    """The upper 53 bits as a number in (0, 1)."""
    return ((state >> 11) + 0.5) * 2.0**-53


def _key(seed: int, position: int) -> int:
    return _finalize(_finalize((seed * _PHI + 1) & _MASK) ^ ((position * _PHI) & _MASK))


def _finalize(value: int) -> int:
    value = ((value ^ (value >> 30)) * _MIX_1) & _MASK
    value = ((value ^ (value >> 27)) * _MIX_2) & _MASK
    return value ^ (value >> 31)
