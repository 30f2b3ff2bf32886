"""The targets as data, and what the measurements say of each: met, not met or not measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.bench.figures import Estimate, against_best, estimate, loops
from tests.bench.run import Results, Run

Values = TypeVar("Values")
Status = Literal["met", "not met", "not measured"]
Measure = Literal["answer", "decode"]

EVERY, OVERALL = "every category", "overall"
BEST_LOOKUP, BEST_FIXED = "better Llama lookup", "best fixed length"
MIN_RATIOS = 2
"""Fewer paired ratios than this say nothing."""


@dataclass(frozen=True, slots=True)
class Target:
    """``variant`` must be ``bar`` times as fast as ``against``. ``scope``: one category, every one, or overall."""

    pair: str
    variant: str
    against: str
    scope: str
    bar: float

    def __str__(self) -> str:
        return f"{self.variant} / {self.against}, {self.scope.replace('_', '/')}"


TARGETS: tuple[Target, ...] = (
    Target("a", "auto", "plain", EVERY, 0.98),
    Target("a", "auto", "plain", OVERALL, 1.05),
    Target("a", "auto", "plain", "translation", 1.15),
    Target("a", "auto", "plain", "extraction", 1.15),
    Target("a", "auto", "plain", "copy_edit", 1.4),
    Target("b", "auto", "plain", EVERY, 1.0),
    Target("b", "auto", "plain", OVERALL, 1.2),
    Target("b", "auto", "plain", "copy_edit", 2.0),
    Target("c", "auto q4_1", "plain", OVERALL, 1.6),
    Target("c", "auto q2_k", "plain", OVERALL, 1.1),
    Target("c", "auto q4_1", "draft q4_1", EVERY, 1.0),
    Target("c", "auto q2_k", "draft q2_k", EVERY, 1.0),
    Target("d", "auto", "plain", EVERY, 0.98),
    Target("a", "plain fast", "Llama plain", OVERALL, 1.0),
    Target("b", "plain", "Llama plain", OVERALL, 1.0),
    Target("d", "plain fast", "Llama plain", OVERALL, 1.0),
    Target("a", "auto", BEST_LOOKUP, OVERALL, 1.3),
    Target("a", "auto", BEST_FIXED, EVERY, 0.97),
    Target("b", "auto", BEST_FIXED, EVERY, 0.97),
    Target("c", "auto q4_1", BEST_FIXED, EVERY, 0.97),
    Target("d", "auto", BEST_FIXED, EVERY, 0.97),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """``worst``: for a target on every category, the lowest one; ``failing``: categories wholly below the bar."""

    target: Target
    status: Status
    measured: Estimate | None = None
    worst: str = ""
    failing: tuple[str, ...] = ()
    categories: int = 0


def judge(found: Estimate | None, bar: float) -> Status:
    """A target fails only when the interval lies wholly below it.

    >>> judge(Estimate(0.97, 0.95, 0.99, 8), 0.98), judge(Estimate(0.9, 0.85, 0.95, 8), 0.98), judge(None, 1)
    ('met', 'not met', 'not measured')
    """
    if found is None or found.high is None or found.count < MIN_RATIOS:
        return "not measured"
    return "not met" if found.high < bar else "met"


class Ratios:
    """Paired ratios out of the runs: within a group, one variant's time over another's.

    Runs beside a busy neighbour process are left out, whatever they say. Groups in which one of the answers loops are
    kept apart (``looping``): lookup guesses a loop, and a figure from one says nothing about text.
    """

    def __init__(self, runs: Iterable[Run], *, looping: bool = False) -> None:
        self._groups: dict[tuple[str, str, int, str, float], dict[str, Run]] = defaultdict(dict)
        for run in runs:
            if not run.busy:
                self._groups[run.group][run.variant] = run
        self._groups = {
            key: group
            for key, group in self._groups.items()
            if any(loops(run.tokens) for run in group.values() if _is_ours(run)) == looping
        }

    def by_category(
        self,
        pair: str,
        variant: str,
        against: str,
        measure: Measure = "answer",
        temperature: float | None = None,
    ) -> dict[str, list[float]]:
        """Category -> how many times as fast ``variant`` was as ``against``, one ratio a group."""
        ratios: dict[str, list[float]] = defaultdict(list)
        for group in self._of(pair, (variant, against), temperature):
            ratios[group[variant].category].append(times_as_fast(group[variant], group[against], measure))
        return dict(ratios)

    def rows(
        self, pair: str, variant: str, rivals: Sequence[str], measure: Measure = "answer"
    ) -> dict[str, list[list[float]]]:
        """Category -> one row a group with the ratio against each rival."""
        rows: dict[str, list[list[float]]] = defaultdict(list)
        for group in self._of(pair, (variant, *rivals), None):
            row = [times_as_fast(group[variant], group[rival], measure) for rival in rivals]
            rows[group[variant].category].append(row)
        return dict(rows)

    def runs_of(self, pair: str, variant: str) -> list[Run]:
        """All runs of a variant."""
        return [group[variant] for group in self._of(pair, (variant,), None)]

    def _of(self, pair: str, variants: Sequence[str], temperature: float | None) -> Iterable[dict[str, Run]]:
        for key, group in self._groups.items():
            if (
                key[0] == pair
                and all(name in group and group[name].tokens for name in variants)
                and (temperature is None or key[4] == temperature)
            ):
                yield group


def times_as_fast(run: Run, against: Run, measure: Measure) -> float:
    """``against``'s time over ``run``'s. Answers can fork in fast mode and end elsewhere; the decoding part of the
    time is then scaled to the length of ``against``'s answer."""
    scale = len(against.tokens) / len(run.tokens)
    decode = run.decode_seconds * scale
    if measure == "decode" and run.decode_seconds > 0 and against.decode_seconds > 0:
        return against.decode_seconds / decode
    return against.seconds / (run.seconds - run.decode_seconds + decode)


def _is_ours(run: Run) -> bool:
    return not run.variant.startswith("Llama")


def rivals_of(target: Target, ratios: Ratios) -> list[str]:
    """The variants that BEST_LOOKUP or BEST_FIXED stands for; only those that were measured."""
    suffix = target.variant.removeprefix("auto")
    names = ["Llama lookup 2", "Llama lookup 10"]
    if target.against == BEST_FIXED:
        names = [f"fixed {length}{suffix}" for length in (2, 4, 8)]
    return [name for name in names if ratios.runs_of(target.pair, name)]


def verdict(target: Target, ratios: Ratios, measure: Measure = "answer") -> Verdict:
    """What the runs say of a target."""
    found = by_scope(target, ratios, measure)
    if target.scope != EVERY:
        return Verdict(target, judge(found.get(target.scope), target.bar), found.get(target.scope))
    measured = {name: one for name, one in found.items() if name != OVERALL and one.count >= MIN_RATIOS}
    if not measured:
        return Verdict(target, "not measured")
    worst = min(measured, key=lambda name: measured[name].value)
    failing = tuple(name for name, one in measured.items() if judge(one, target.bar) == "not met")
    return Verdict(target, "not met" if failing else "met", measured[worst], worst, failing, len(measured))


def by_scope(target: Target, ratios: Ratios, measure: Measure) -> dict[str, Estimate]:
    """Every category's estimate, and OVERALL."""
    if target.against in (BEST_LOOKUP, BEST_FIXED):
        return _against_rivals(target, ratios, measure)
    groups = ratios.by_category(target.pair, target.variant, target.against, measure)
    return _estimates(groups, lambda values: estimate([values]), estimate(list(groups.values())))


def _against_rivals(target: Target, ratios: Ratios, measure: Measure) -> dict[str, Estimate]:
    rivals = rivals_of(target, ratios)
    rows = ratios.rows(target.pair, target.variant, rivals, measure) if rivals else {}
    everything = against_best([row for category in rows.values() for row in category])

    def best(values: list[list[float]]) -> Estimate | None:
        found = against_best(values)
        return found[1] if found else None

    return _estimates(rows, best, everything[1] if everything else None)


def _estimates(
    groups: dict[str, Values], one: Callable[[Values], Estimate | None], overall: Estimate | None
) -> dict[str, Estimate]:
    found = {category: made for category, values in groups.items() if (made := one(values)) is not None}
    return found if overall is None else {**found, OVERALL: overall}


def verdicts(results: Results, measure: Measure = "answer") -> list[Verdict]:
    """All targets' verdicts."""
    ratios = Ratios(results.runs)
    return [verdict(target, ratios, measure) for target in TARGETS]
