"""What can be kept of an answer whose end may never come: the receipt it began with, and tokens whose text is there.

A kill or a crash then costs the end and nothing else: the answer shows its seed and its settings, and goes on behind
the very tokens that were chosen.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from app.chats.records import Figures
from app.chats.seal import Sealer, sealed
from engine.stats import Stats, until_now

if TYPE_CHECKING:
    from engine.protocol import AttachedFile, Finished, Receipt, TextDelta

INTERRUPTED = "interrupted"
FAILED = "failed"


@dataclass(eq=False)
class Unfinished:
    """Filled while the answer is made."""

    receipt: Receipt | None = None
    """As the answer began; None where the engine has not said."""
    token_ids: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    """Characters of the text that each token completed."""
    attachments: tuple[AttachedFile, ...] = ()
    """Files that the conversation quotes."""
    _sealer: tuple[Receipt, Sealer] | None = None
    """Of the receipt at hand: a checkpoint comes every second, and a prompt may be long."""

    def take(self, delta: TextDelta) -> None:
        """More of the answer has come."""
        self.token_ids += delta.token_ids
        self.sources += delta.sources
        self.lengths += delta.completed

    def checkpoint(self, message: int, text: str, stats: Stats | None, so_far: str = "") -> tuple[str, Figures | None]:
        """What is kept in case of a kill: ``text`` up to the last token that has all of its own in it (a part of the
        next one may be on screen already), and those tokens; no figures where there is no receipt yet. ``so_far``:
        what is kept before it, where the answer goes on with another one."""
        count, length = self._told_by(text)
        text = text[:length] if count else text
        return text, self._figures(message, count, stats, INTERRUPTED, so_far + text)

    def failed(self, message: int, text: str, stats: Stats | None, so_far: str = "") -> Figures | None:
        """The engine is gone, and ``text`` is all that came. Its tokens are kept where they spell just that."""
        return self._figures(message, self._spelling(text), stats, FAILED, so_far + text)

    def filled_in(self, finished: Finished, text: str) -> Finished:
        """``finished`` as it is kept: its receipt names the attached files, and where it has none, because the engine
        had to be killed or the app ends now, it gets the one that the answer began with. ``text``: what is new in it.
        """
        if finished.receipt is not None:
            proof = finished.receipt.model_copy(update={"attachments": self.attachments})
            return finished.model_copy(update={"receipt": proof})
        if self.receipt is None:
            return finished
        count = self._spelling(text)
        return finished.model_copy(
            update={
                "token_ids": tuple(self.token_ids[:count]),
                "sources": "".join(self.sources[:count]),
                "receipt": self._proof(count),
            }
        )

    def _told_by(self, text: str) -> tuple[int, int]:
        """How many tokens have all their text in ``text``, and how long that is."""
        if len(self.lengths) != len(self.token_ids):
            return 0, 0
        ends = list(accumulate(self.lengths))
        count = bisect_right(ends, len(text))
        return count, ends[count - 1] if count else 0

    def _spelling(self, text: str) -> int:
        """How many tokens spell ``text``; 0 where none do so exactly."""
        count, length = self._told_by(text)
        return count if length == len(text) else 0

    def _proof(self, count: int) -> Receipt | None:
        if self.receipt is None:
            return None
        lengths = tuple(self.lengths[:count])
        return self.receipt.model_copy(update={"text_lengths": lengths, "attachments": self.attachments})

    def _seal(self) -> Sealer | None:
        """Of the receipt at hand: what is put into it meanwhile is not what it begins with."""
        if self.receipt is not None and (self._sealer is None or self._sealer[0] is not self.receipt):
            self._sealer = self.receipt, Sealer.of(self.receipt)
        return self._sealer and self._sealer[1]

    def _figures(self, message: int, count: int, stats: Stats | None, reason: str, text: str) -> Figures | None:
        """``text``: all that is kept of the answer."""
        proof = self._proof(count)
        if proof is None:
            return None
        sources = "".join(self.sources[:count])
        figures = until_now(stats or Stats(prompt_tokens=len(proof.prompt_ids)), sources or "".join(self.sources))
        kept = Figures(message, reason, tuple(self.token_ids[:count]), sources, figures.model_dump_json(), None)
        return replace(kept, receipt_json=sealed(proof, kept, text, self._seal()).model_dump_json())
