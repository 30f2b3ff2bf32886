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
    are taken back and only what is new is read (a draft with a running state goes back to a copy made before it
    proposed, and reads again what was accepted). ``shared_vocabulary``: ids at or above it mean nothing to the target
    and are never proposed. When the text outgrows the draft's window it gives up, and says so in ``note``, which is
    that of the present answer.
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
        self.note = None  # it belongs to the answer before, which may be the last one that begin() is called for

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`. Nothing is evaluated before a draft is wanted."""
        self._agreed = 0
        self._prompt_unread = True

    def forget(self) -> None:
        """Empty the draft's cache: the next answer pays for reading its whole prompt."""
        self._context.clear()
        self._held.clear()
        self._agreed = 0

    def unread(self, history: Sequence[int]) -> int:
        """How many tokens of ``history`` must be read before the first proposal."""
        self._reconcile(history)
        return len(history) - len(self._held)

    def room(self, history: Sequence[int]) -> int:
        """How many proposals the draft's window has room for behind ``history``. That there is none is noted: ask only
        where the draft is wanted."""
        room = self._context.size - len(history) + 1
        if room <= 0:
            self.note = f"the draft model's window of {self._context.size:,} tokens is full; it gave up there"
        return max(0, room)

    def draft(
        self,
        history: Sequence[int],
        limit: int,
        go_on: Callable[[Sequence[float]], bool] = lambda margins: True,
    ) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`. The first draft of an answer reads the prompt. ``go_on`` is asked
        after every proposal, with the margins so far. Confidence: the margin between best and second candidate."""
        assert self._chooser is not None, "use() comes first"
        limit = min(limit, self.room(history))
        if limit <= 0:
            return NOTHING
        prefill_seconds, prefill_tokens = self._catch_up(history)
        behind = history[len(self._held) :]
        tokens: list[int] = []
        margins: list[float] = []
        with self._chooser.proposing(history):
            while True:
                logits = self._read(behind, rows=1)
                if not tokens:
                    self._context.mark(passing=True)  # a running state comes back to here when proposals are rejected
                token, margin = self._chooser.propose(logits[0], len(history) + len(tokens))
                if token >= self._shared:
                    break
                tokens.append(token)
                margins.append(margin)
                if len(tokens) == limit or self._is_end(token) or not go_on(margins):
                    break
                self._chooser.accept(token)
                behind = [token]
        return Draft(tokens, self.name, margins, prefill_seconds, prefill_tokens)

    def _catch_up(self, history: Sequence[int]) -> tuple[float, int]:
        """Bring the cache near the end of ``history``; at least its last token stays unread. Returns seconds and tokens
        of the first reading of an answer's prompt (0 afterwards)."""
        started = time.perf_counter()
        self._reconcile(history)
        held = len(self._held)
        while len(history) - len(self._held) > SHORT_READ:
            self._read(history[len(self._held) : -1][: self._context.chunk], rows=0)
        if not self._prompt_unread:
            return 0.0, 0
        self._prompt_unread = False
        self._context.mark()  # for the next answer behind this prompt
        return time.perf_counter() - started, len(self._held) - held

    def _read(self, tokens: Sequence[int], *, rows: int) -> Logits:
        try:
            return self._context.decode(tokens, rows=rows)
        finally:  # an aborted pass may have read a part, or cost a running state what was read before
            read = self._context.length - len(self._held)
            if read >= 0:
                self._held.extend(tokens[:read])
            else:
                del self._held[read:]

    def _reconcile(self, history: Sequence[int]) -> None:
        """Take back what the cache holds beyond its common prefix with ``history`` (append-only within an answer, so
        only what lies behind the last agreement is compared); at least the last token of ``history`` stays unread."""
        held = self._held
        most = min(len(held), len(history) - 1)
        agreed = min(self._agreed, most)
        while agreed < most and held[agreed] == history[agreed]:
            agreed += 1
        if agreed < len(held):
            self._context.truncate(agreed)  # or to a mark before it
            del held[self._context.length :]
        self._agreed = len(held)
