"""Whether an answer was slower than its like were before, and why, as far as that was measured.

Held against the median of earlier answers of the same pair and mode behind a similar context. It counts as slower only
when it lost more than :data:`LOSS` and lies outside the spread that those answers have among themselves (Tukey's lower
fence, a quartile less one and a half times the distance of the quartiles): text that drafts badly is no fault.
"""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.history.past import PastAnswer
from app.percent import written

LOSS: Final = 0.3
LEAST_TOKENS: Final = 32
"""A shorter answer says little about a speed."""
LEAST_ANSWERS: Final = 5
MOST_ANSWERS: Final = 50
"""The newest comparable answers that count."""
NEARBY: Final = 512
"""Tokens by which contexts may differ and still be similar; or one is at most twice the other."""
LONGER: Final = 256
"""Tokens that a similar context must have more to be called the cause, where it is more than twice as long, too."""
OTHER_CORES: Final = 0.3
"""Cores' worth of other programs' work, above what is usual, that is called the cause."""

Kind = Literal["load", "context", "setup", "unknown"]


@dataclass(frozen=True, slots=True)
class Cause:
    """The first that was measured, in the order load of others, longer context, other build or settings, context
    that is longer and still similar."""

    kind: Kind
    words: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """``usual``: the median of ``count`` comparable answers, tokens a second. ``cause`` None: it was as usual."""

    rate: float
    usual: float
    count: int
    cause: Cause | None

    @property
    def words(self) -> str:
        """``12 tok/s, usually 19 here: other programs used 85 % of the processors``; empty where it was as usual."""
        if self.cause is None:
            return ""
        return f"{rate_words(self.rate)} tok/s, usually {rate_words(self.usual)} here: {self.cause.words}"


def judge(answer: PastAnswer, others: Sequence[PastAnswer], processors: int | None = None) -> Verdict | None:
    """``answer`` against those of ``others`` that came before it and are like it; None where they are too few, or it
    is too short. ``processors``: of this machine, for a share of them."""
    if answer.tokens < LEAST_TOKENS:
        return None
    same = [other for other in others if other.id < answer.id and _same_kind(other, answer)]
    like = [other for other in same if _near(other.context, answer.context)]
    base = (like if len(like) >= LEAST_ANSWERS else same)[:MOST_ANSWERS]
    if len(base) < LEAST_ANSWERS:
        return None
    rates = [other.rate for other in base]
    usual = statistics.median(rates)
    slower = answer.rate < (1 - LOSS) * usual and answer.rate < _fence(rates)
    return Verdict(answer.rate, usual, len(base), _cause(answer, base, processors) if slower else None)


def rate_words(rate: float) -> str:
    """No more digits than mean something."""
    return f"{rate:.0f}" if rate >= 9.95 else f"{rate:.1f}"


def _same_kind(one: PastAnswer, other: PastAnswer) -> bool:
    return one.marks == other.marks and one.mode == other.mode and one.tokens >= LEAST_TOKENS


def _near(one: int, other: int) -> bool:
    return abs(one - other) <= NEARBY or max(one, other) <= 2 * min(one, other)


def _fence(rates: Sequence[float]) -> float:
    lower, _, upper = statistics.quantiles(rates, n=4, method="inclusive")
    return lower - 1.5 * (upper - lower)


def _cause(answer: PastAnswer, base: Sequence[PastAnswer], processors: int | None) -> Cause:
    return (
        _load(answer, base, processors or os.cpu_count() or 1)
        or _context(answer, base)
        or _setup(answer, base)
        or _context(answer, base, within=True)
        or Cause("unknown", "the cause was not measured")
    )


def _load(answer: PastAnswer, base: Sequence[PastAnswer], processors: int) -> Cause | None:
    if answer.other_cores is None:
        return None
    known = [other.other_cores for other in base if other.other_cores is not None]
    usual = statistics.median(known) if known else 0.0
    if answer.other_cores - usual < OTHER_CORES:
        return None
    share = min(100, round(100 * answer.other_cores / processors))
    return Cause("load", f"other programs used {written(share)} of the processors")


def _context(answer: PastAnswer, base: Sequence[PastAnswer], *, within: bool = False) -> Cause | None:
    """``within``: also of contexts that still count as similar, which explain less than anything else that is told."""
    usual = round(statistics.median(other.context for other in base))
    longer = answer.context - usual >= LONGER and answer.context > 2 * usual
    if answer.context <= usual or not (longer if within else not _near(answer.context, usual)):
        return None
    return Cause("context", f"the conversation is longer, {answer.context:,} tokens instead of {usual:,}")


def _setup(answer: PastAnswer, base: Sequence[PastAnswer]) -> Cause | None:
    """The first thing that is otherwise than in most of the answers that tell it."""
    for name, now in answer.setup.items():
        told = Counter(other.setup[name] for other in base if name in other.setup)
        then, count = told.most_common(1)[0] if told else (now, 0)
        if then != now and 2 * count > sum(told.values()):
            return Cause("setup", f"{name} is {now} and was {then}")
    return None
