"""What may draft for a model: prompt lookup, and every model on this disk with a verdict and its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from app.library.local import LocalModel
from app.percent import share
from engine.files.pairing import Judge
from engine.files.paying import pays_from
from engine.protocol import PLAIN_ONLY

Kind = Literal["lookup", "fits", "too large", "same file", "other vocabulary", "not whole", "no draft", "plain only"]

RANKS: Final[tuple[Kind, ...]] = (
    "lookup", "fits", "too large", "same file", "other vocabulary", "plain only", "not whole", "no draft",
)  # fmt: skip
"""The order of the list: what promises most comes first."""

HOPELESS: Final = 0.95
"""No draft has so many of its proposals accepted on average."""

LOOKUP_WORDS: Final = "free, needs no file: it proposes what the text so far repeats"


@dataclass(frozen=True, slots=True)
class DraftCost:
    """What was measured for a pair on this machine. ``ratio``: a drafted token over a plain pass of the target;
    ``passes``: width of a pass -> its time over a plain one."""

    ratio: float
    passes: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """Whether something may draft for the target, and whether it is worth it. ``draft`` None: prompt lookup."""

    draft: LocalModel | None
    kind: Kind
    reason: str
    cost: float | None = None
    """A drafted token in plain passes of the target."""
    measured: bool = False
    """Whether the cost was measured on this machine; else it is guessed by the sizes."""
    pays_from: float | None = None
    """The share of proposals that must be accepted for drafting to pay."""

    @property
    def can_draft(self) -> bool:
        """Whether the engine would take it; whether it pays is another matter."""
        return self.kind in ("lookup", "fits", "too large", "same file")


Measured = Callable[[LocalModel, LocalModel], DraftCost | None]
"""(target, draft) -> what was measured of them here; None: nothing was."""


def nothing_measured(target: LocalModel, draft: LocalModel) -> None:
    """No pair was measured."""


def judge_drafts(
    target: LocalModel, models: Iterable[LocalModel], measured: Measured = nothing_measured
) -> list[DraftVerdict]:
    """Prompt lookup first, then every model, what promises most before the rest. None is left out."""
    judge = Judge(target.vocabulary) if target.vocabulary is not None else None
    verdicts = [_judged(target, draft, judge, measured) for draft in models]
    return sorted([_lookup(target), *verdicts], key=_promise)


def _lookup(target: LocalModel) -> DraftVerdict:
    if target.shape.undo == "none":
        return DraftVerdict(None, "plain only", PLAIN_ONLY)
    return DraftVerdict(None, "lookup", LOOKUP_WORDS)


def _judged(target: LocalModel, draft: LocalModel, judge: Judge | None, measured: Measured) -> DraftVerdict:
    if draft.fault is not None:
        return DraftVerdict(draft, "not whole", draft.fault)
    if draft.why_not is not None:
        return DraftVerdict(draft, "no draft", draft.why_not)
    if target.shape.undo == "none":
        return DraftVerdict(draft, "plain only", PLAIN_ONLY)
    if judge is None or draft.vocabulary is None:
        who = target if judge is None else draft
        return DraftVerdict(draft, "other vocabulary", f"{who.name} carries no vocabulary")
    if _is_same(target, draft):
        reason = "the model itself: a draft that is as slow as its target cannot pay"
        return DraftVerdict(draft, "same file", reason, cost=1.0)
    verdict = judge.verdict(draft.vocabulary)
    if not verdict.fits:
        return DraftVerdict(draft, "other vocabulary", verdict.reason)
    return _paying(target, draft, verdict.reason, measured(target, draft))


def _is_same(target: LocalModel, draft: LocalModel) -> bool:
    """Whether both are one model, at whichever of its places each was named."""
    return not {target.path, *target.also_at}.isdisjoint({draft.path, *draft.also_at})


def _paying(target: LocalModel, draft: LocalModel, fitting: str, measured: DraftCost | None) -> DraftVerdict:
    """A draft that fits: does it pay?"""
    cost = measured.ratio if measured else draft.shape.weights / max(1, target.shape.weights)
    needed = pays_from(cost, measured.passes if measured else None)
    source = "measured here" if measured else "by the sizes"
    costs = f"a token costs {_ratio(cost)} of a pass ({source})"
    if needed is None:
        kind: Kind = "too large"
        reason = f"too large to pay: {costs}, so not even full acceptance would pay"
    elif needed > HOPELESS:
        kind, reason = "too large", f"too large to pay: {costs}, so {share(needed)} would have to be accepted"
    else:
        kind, reason = "fits", f"{fitting}; {costs}, which pays from {share(needed)} accepted"
    return DraftVerdict(draft, kind, reason, cost, measured is not None, needed)


def _ratio(cost: float) -> str:
    return f"{cost:.2f}" if cost >= 0.01 else "under 0.01"


def _promise(verdict: DraftVerdict) -> tuple[int, float, float, str]:
    """Lookup stands first whatever its verdict; among drafts that fit, what pays soonest, then what costs least."""
    rank = -1 if verdict.draft is None else RANKS.index(verdict.kind)
    return (
        rank,
        verdict.pays_from if verdict.pays_from is not None else 2.0,
        verdict.cost if verdict.cost is not None else 0.0,
        verdict.draft.name.casefold() if verdict.draft else "",
    )
