"""What a larger context would take for the pair that is loaded: nothing is loaded for it, only headers are read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.library.room import total_memory
from engine.files.fit import CELLS, SURE, judge_fit
from engine.files.header import HeaderError, read_header
from engine.files.machine import available_memory
from engine.files.shape import Shape
from engine.files.sizes import size_words
from engine.protocol import Device, PairInfo

log = logging.getLogger(__name__)

LEAST_PROPOSED: Final = 256
"""Tokens: a context below this holds no conversation."""
ROOM_FOR_ANSWER: Final = 1024
"""Tokens that a proposed context leaves for the answer; a quarter of the conversation, where that is less."""


@dataclass(frozen=True, slots=True)
class Window:
    """A context of ``size`` tokens for the pair that is loaded."""

    size: int
    extra: int | None = None
    """Bytes of main memory beyond what the pair takes now; None: not known."""
    free: int | None = None
    """Bytes of it that can be had; None: not known."""
    why_not: str = ""
    """Why it cannot be had, in a phrase; empty: it can."""


class Windows:
    """The contexts that the pair ``loaded`` could have instead. Made for one question; reads files, so it belongs into
    a thread. ``gpus``: as they are once the pair has given back what it holds there."""

    def __init__(self, loaded: PairInfo, gpus: Sequence[Device] = ()) -> None:
        self.now = loaded.context
        self.trained = loaded.target.context_trained
        self._gpus = tuple(gpus)
        self._target = _shape(loaded.target.path)
        self._draft = _shape(loaded.draft.path) if loaded.draft is not None else None
        self._free = self._free_memory()

    def larger(self, tokens: int) -> Window:
        """The one to propose where ``tokens`` have to fit with an answer behind them: a power of two, or where memory
        does not allow that, as much as is needed."""
        sizes = proposals(tokens, self.now, self.trained)
        if not sizes:
            return Window(self.trained, why_not=f"the model was trained for {self.trained:,} tokens")
        judged = [self.judge(size) for size in sizes]
        return next((window for window in judged if not window.why_not), judged[-1])

    def judge(self, size: int) -> Window:
        """Whether training and memory allow a context of ``size`` tokens."""
        if 0 < self.trained < size:
            return Window(size, why_not=f"the model was trained for {self.trained:,} tokens")
        needed = self._needed(size), self._needed(self.now)
        if needed[0] is None or needed[1] is None:
            return Window(size, None, self._free)
        extra = needed[0] - needed[1]
        if self._free is None or extra * SURE <= self._free:
            return Window(size, extra, self._free)
        lacking = size_words(round(extra * SURE) - self._free)
        return Window(size, extra, self._free, why_not=f"{size:,} tokens need {lacking} more than is free")

    def _needed(self, size: int) -> int | None:
        if self._target is None:
            return None
        return judge_fit(self._target, self._draft, context=size, gpus=self._gpus).needed

    def _free_memory(self) -> int | None:
        """What can be had now; where only the whole memory is known, what the pair leaves of it."""
        free, total = available_memory(), total_memory()
        if free is not None or total is None:
            return free
        return max(0, total - (self._needed(self.now) or 0))


def proposals(tokens: int, now: int, trained: int) -> list[int]:
    """Sizes above ``now`` that hold ``tokens`` and an answer, none beyond what the model was ``trained`` for (0: not
    known): the best one first."""
    wanted = tokens + min(ROOM_FOR_ANSWER, max(1, tokens // 4))
    sizes = (max(LEAST_PROPOSED, 1 << (wanted - 1).bit_length()), max(LEAST_PROPOSED, -(-wanted // CELLS) * CELLS))
    capped = (min(size, trained) if trained else size for size in sizes)
    return list(dict.fromkeys(size for size in capped if size > max(now, tokens)))


def _shape(path: str) -> Shape | None:
    """None where the header cannot be read: what it takes is not known then."""
    try:
        return Shape.of(read_header(Path(path)))
    except (HeaderError, OSError) as error:
        log.warning("the memory of %s is not known: %s", path, error)
        return None
