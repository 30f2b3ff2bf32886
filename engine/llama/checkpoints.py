"""Copies of a model's running state, so that a text that forks need not be read from its beginning again.

Attention can forget the tail of a text, since every token has a cell of its own. A recurrent model has one state for
the whole text: to go back, one must have kept a copy. (llama.cpp's server does the same under this name.)
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.llama.backend import library

PARTIAL_ONLY = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY: the running state alone. A hybrid's attention cells stay where they are."""

MOST_BYTES = 256 * 1024 * 1024
"""What the copies of one context may take together; one copy is always allowed. A state is 20 to 60 MB in models of
1 to 9 billion parameters."""

MOST_COPIES = 16


@dataclass(slots=True)
class Checkpoint:
    """The state behind the first ``length`` tokens. A ``passing`` one is replaced by the next passing one."""

    length: int
    data: NDArray[np.uint8]
    passing: bool


class Checkpoints:
    """Copies of one sequence's state at growing lengths of one text. Not valid for another text."""

    def __init__(self, handle: Any) -> None:
        self._L, self._handle = library(), handle
        self._kept: list[Checkpoint] = []

    def lengths(self) -> list[int]:
        """Where copies exist, in tokens, ascending."""
        return [checkpoint.length for checkpoint in self._kept]

    def take(self, length: int, *, every: int = 1, passing: bool = False) -> bool:
        """Copy the present state, which is the one behind ``length`` tokens.

        Nothing is done while the newest copy is less than ``every`` tokens back. False when there is no new copy.
        """
        spare: NDArray[np.uint8] | None = None
        if passing:
            spare = next((kept.data for kept in self._kept if kept.passing), None)
            self._kept = [kept for kept in self._kept if not kept.passing]
        newest = self._kept[-1].length if self._kept else 0
        if length - newest < every:
            return False
        size = self._L.llama_state_seq_get_size_ext(self._handle, 0, PARTIAL_ONLY)
        data = spare if spare is not None and len(spare) == size else np.empty(size, np.uint8)
        if size == 0 or self._L.llama_state_seq_get_data_ext(self._handle, _bytes(data), size, 0, PARTIAL_ONLY) != size:
            return False
        self._kept.append(Checkpoint(length, data, passing))
        self._thin_out()
        return True

    def restore(self, length: int) -> int:
        """Put the newest copy at or before ``length`` back; returns its length, 0 when there is none or it failed
        (the native state is then undefined). Copies beyond ``length`` belong to another text and are dropped."""
        self.forget_beyond(length)
        if not self._kept:
            return 0
        newest = self._kept[-1]
        size = len(newest.data)
        read = self._L.llama_state_seq_set_data_ext(self._handle, _bytes(newest.data), size, 0, PARTIAL_ONLY)
        return newest.length if read == size else 0

    def forget_beyond(self, length: int) -> None:
        """Drop the copies of more than ``length`` tokens: the text goes on differently from there."""
        while self._kept and self._kept[-1].length > length:
            self._kept.pop()

    def _thin_out(self) -> None:
        """Keep within the limits. Of all copies but the newest the one goes whose absence leaves the smallest gap, so
        that the copies spread over the whole text."""
        while len(self._kept) > 1 and (
            len(self._kept) > MOST_COPIES or sum(kept.data.nbytes for kept in self._kept) > MOST_BYTES
        ):
            places = [0, *self.lengths()]
            gaps = [places[i + 2] - places[i] for i in range(len(self._kept) - 1)]
            del self._kept[gaps.index(min(gaps))]


def _bytes(data: NDArray[np.uint8]) -> Any:
    return data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
