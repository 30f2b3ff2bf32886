"""A small model of the same vocabulary proposes, coupled to the target by the same Gumbel noise."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.drafters.base import NOTHING, Draft
from engine.llama.context import Context, Logits
from engine.sampling import Chooser

SHORT_READ = 8
"""Most tokens that are read together with the first proposal; more are read before it, without logits."""


class ModelDrafter:
    """Drafts with a second model in a context of its own.

    It never evaluates a token that its cache already holds: after a pass only the proposals that were not accepted
    are taken back and only what is new is read. ``shared_vocabulary``: ids at or above it mean nothing to the target
    and are never proposed. When the text outgrows the draft's window it gives up, and says so once in ``note``.
    """

    name = "draft"

    def __init__(self, context: Context, *, shared_vocabulary: int, is_end: Callable[[int], bool]) -> None:
        self._context = context
        self._shared = shared_vocabulary
        self._is_end = is_end
        self._held: list[int] = []
        self._agreed = 0
        self._prompt_unread = True
        self._chooser: Chooser | None = None
        self.note: str | None = None

    def use(self, chooser: Chooser) -> None:
        """The choice rule of the next answer: the target's settings and seed over the draft's vocabulary."""
        self._chooser = chooser

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`. Nothing is evaluated before a draft is wanted."""
        self._agreed = 0
        self._prompt_unread = True
        self.note = None

    def forget(self) -> None:
        """Empty the draft's cache: the next answer pays for reading its whole prompt."""
        self._context.clear()
        self._held.clear()
        self._agreed = 0

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`. The first draft of an answer reads the prompt."""
        assert self._chooser is not None, "use() comes first"
        limit = min(limit, self._context.size - len(history) + 1)
        if limit <= 0:
            self.note = self.note or (
                f"the draft model's window of {self._context.size:,} tokens is full; plain decoding from there on"
            )
            return NOTHING
        prefill_seconds = self._catch_up(history)
        behind = history[len(self._held) :]
        tokens: list[int] = []
        while True:
            logits = self._read(behind, rows=1)
            token = self._chooser.choose(logits[0], len(history) + len(tokens))
            if token >= self._shared:
                break
            tokens.append(token)
            if len(tokens) == limit or self._is_end(token):
                break
            behind = [token]
        return Draft(tokens, self.name, prefill_seconds)

    def _catch_up(self, history: Sequence[int]) -> float:
        """Bring the cache near the end of ``history``; at least its last token stays unread. Returns the seconds that
        went into the first reading of an answer's prompt (0 afterwards)."""
        started = time.perf_counter()
        self._reconcile(history)
        while len(history) - len(self._held) > SHORT_READ:
            self._read(history[len(self._held) : -1][: self._context.chunk], rows=0)
        if not self._prompt_unread:
            return 0.0
        self._prompt_unread = False
        return time.perf_counter() - started

    def _read(self, tokens: Sequence[int], *, rows: int) -> Logits:
        try:
            return self._context.decode(tokens, rows=rows)
        finally:  # an aborted pass may have read a part
            self._held.extend(tokens[: self._context.length - len(self._held)])

    def _reconcile(self, history: Sequence[int]) -> None:
        """Take back what the cache holds beyond its common prefix with ``history`` (append-only within an answer, so
        only what lies behind the last agreement is compared); at least the last token of ``history`` stays unread."""
        held = self._held
        most = min(len(held), len(history) - 1)
        agreed = min(self._agreed, most)
        while agreed < most and held[agreed] == history[agreed]:
            agreed += 1
        if agreed < len(held):
            self._context.truncate(agreed)
            del held[self._context.length :]
        self._agreed = len(held)
