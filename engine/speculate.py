"""The loop: draft, verify, accept, correct. Plain decoding is the same loop with empty drafts.

Every token is the target's own choice at its position; a draft only decides how many positions one pass covers
(Leviathan et al. 2023 and Chen et al. 2023 for the scheme; the acceptance rule is equality with the target's own,
seeded choice, see :mod:`engine.sampling`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from engine.counting import Counter
from engine.drafters.base import NOTHING, Draft, Drafter, Outcome
from engine.llama.context import BrokenLogits, Context, DecodeAborted, Logits
from engine.protocol import FinishReason
from engine.sampling import Chooser

PLAIN, CORRECTION, BONUS = "t", "c", "b"
PROPOSED_BY = {"lookup": "l", "draft": "d"}
"""Letters of :class:`engine.protocol.TextDelta`.sources."""


class Sink(Protocol):
    """Where chosen tokens go. Returns why the answer ends with this token, or None to go on."""

    def push(self, token: int, source: str) -> FinishReason | None: ...


def speculate(
    target: Context,
    drafter: Drafter,
    chooser: Chooser,
    history: list[int],
    *,
    sink: Sink,
    draft_limit: Callable[[int], int],
    counter: Counter,
    cancelled: Callable[[], bool],
    after_pass: Callable[[], None],
    observe: Callable[[Outcome], None] = lambda outcome: None,
) -> FinishReason:
    """Continue ``history`` (grown in place) until the sink says stop, the cancel comes or the window is full.

    On entry the target's cache holds ``history[:-1]``, and again at the end, however that comes about; only where a
    memory with running states was stopped in mid-pass it holds less (``target.length``).
    ``draft_limit(length)``: the most proposals allowed behind a history of that length. ``after_pass`` is called
    once a pass, for live figures; ``observe`` learns what became of it. Returns the reason; raises what the
    contexts raise, except for an aborted pass.
    """
    clock = counter.clock
    try:
        while not cancelled():
            if len(history) > target.size:
                return "length"
            limit = draft_limit(len(history))
            started = clock()
            draft = drafter.draft(history, limit) if limit > 0 else NOTHING
            drafted = clock() if limit > 0 else started  # where nobody was asked, no time is called drafting
            logits = target.decode([history[-1], *draft.tokens])
            verified = clock()
            counter.draft += drafted - started - draft.prefill_seconds
            counter.draft_prefill += draft.prefill_seconds
            counter.verify += verified - drafted
            counter.count_pass(1 + len(draft.tokens))
            before, chosen = len(history), counter.choose
            reason, accepted = _accept(draft, logits, chooser, history, sink, counter)
            if not target.truncate(len(history) - 1):
                _read_again(target, history)
            observe(
                Outcome(
                    draft,
                    accepted,
                    history[before:],
                    reason is not None,
                    clock() - drafted,
                    drafted - started - draft.prefill_seconds,
                )
            )
            after_pass()
            counter.count_round(
                before,
                len(draft.tokens),
                len(history) - before,
                clock() - started,
                draft=drafted - started,
                choose=counter.choose - chosen,
            )
            if reason is not None:
                return reason
        return "cancelled"
    except DecodeAborted:
        return "cancelled"
    finally:
        target.truncate(len(history) - 1)


def _read_again(target: Context, history: list[int]) -> None:
    """The cache stopped short of ``history[:-1]``, against what was found at load: slow, but never wrong."""
    while target.length < len(history) - 1:
        target.decode(history[target.length : -1][: target.chunk], rows=0)


def _accept(
    draft: Draft, logits: Logits, chooser: Chooser, history: list[int], sink: Sink, counter: Counter
) -> tuple[FinishReason | None, int]:
    """Walk one pass: the target chooses at every position until it disagrees with the draft, or the answer ends.
    Returns the reason if it ended, and how many proposals were accepted. Raises BrokenLogits."""
    clock, tokens = counter.clock, draft.tokens
    accepted, source = 0, PLAIN
    reason: FinishReason | None = None
    for i in range(len(tokens) + 1):
        before = clock()
        row = logits[i]
        token = chooser.choose(row, len(history))
        if not math.isfinite(row[token]):  # what is not finite is what a choice falls on: no look at the others
            raise BrokenLogits
        chooser.accept(token)
        counter.choose += clock() - before
        agrees = i < len(tokens) and token == tokens[i]
        if not tokens:
            source = PLAIN
        elif agrees:
            source = PROPOSED_BY[draft.drafter]
            accepted += 1
        else:
            source = BONUS if i == len(tokens) else CORRECTION
        history.append(token)
        counter.count_token()
        reason = sink.push(token, source)
        if reason is not None or not agrees:
            break
    mismatch = source == CORRECTION  # the target disagreed, so the rest was rejected even if the answer ends here
    counter.count_draft(draft.drafter, len(tokens), accepted, stopped=reason is not None and not mismatch)
    return reason, accepted
