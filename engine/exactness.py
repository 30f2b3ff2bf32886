"""How exact a loaded target is: what was set, what the self-test found, and what may be done because of it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.llama.context import EXACT, CacheSettings
from engine.protocol import SelfTestResult
from engine.selftest import WIDEST

EXACT_BADGE, UNTESTED_BADGE, FAST_BADGE = "exact", "exact settings, untested", "fast"

UNTESTED_WIDTH = 8
"""Passes of up to 8 tokens round like single ones on the processors tried so far (engine.md 0.1); the test decides."""


@dataclass(frozen=True, slots=True)
class Exactness:
    """``settings``: those of the target's cache; ``tested``: what the self-test found, None until it was done."""

    settings: CacheSettings
    tested: SelfTestResult | None
    gpu_layers: int = 0

    @property
    def holds(self) -> bool:
        """Whether the target computes with the exact settings, and no test spoke against them."""
        return self.settings == EXACT and (self.tested is None or self.tested.exact)

    @property
    def badge(self) -> str:
        """The mode in words, from what was tested and nothing else."""
        if not self.holds:
            return FAST_BADGE
        return UNTESTED_BADGE if self.tested is None else EXACT_BADGE

    @property
    def widest_pass(self) -> int | None:
        """In exact mode, the widest pass that may be sent; None in fast mode."""
        if not self.holds:
            return None
        return UNTESTED_WIDTH if self.tested is None else self.tested.widths

    @property
    def prefill_width(self) -> int | None:
        """What :func:`engine.prefill.next_chunk` must keep to: in exact mode, only tested widths."""
        if self.tested is None or not self.holds or self.tested.widths == WIDEST:
            return None
        return self.tested.widths

    @property
    def fewer_threads(self) -> tuple[int, ...]:
        """Smaller numbers of threads with which the answer stays the same, bit by bit; none where that is not known."""
        if self.tested is None or not self.holds or self.gpu_layers > 0:
            return ()
        return self.tested.threads
