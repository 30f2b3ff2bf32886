"""The targets as data, and what the measurements say of each: met, not met, the machine's own or not measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.compare.explained import Explained, credible, mean
from tests.bench.figures import Estimate, against_best, estimate, loops
from tests.bench.reach import is_the_machines, reach
from tests.bench.run import Results, Run

Status = Literal["met", "not met", "the machine's", "not measured"]
"""``the machine's``: drafting does not explain the difference, and without it the target may be met or not."""
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
    """``worst``: for a target on every category, the lowest one; ``failing``: categories wholly below the bar;
    ``within``: how much of what was ``measured`` drafting explains, None where that is not known."""

    target: Target
    status: Status
    measured: Estimate | None = None
    worst: str = ""
    failing: tuple[str, ...] = ()
    categories: int = 0
    within: Explained | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A factor, and how much of it drafting explains."""

    factor: Estimate
    within: Explained | None


def judge(found: Estimate | None, bar: float, within: Explained | None = None) -> Status:
    """A target fails only when the interval lies wholly below it. ``within``: what drafting explains; neither a gain
    nor a loss beyond that is counted, and where the machine made the difference only what it cannot have hidden.

    >>> judge(Estimate(0.97, 0.95, 0.99, 8), 0.98), judge(Estimate(0.9, 0.85, 0.95, 8), 0.98), judge(None, 1)
    ('met', 'not met', 'not measured')
    >>> noisy = Estimate(1.3, 1.2, 1.4, 8)
    >>> [judge(noisy, bar, Explained(0.97, 1.1)) for bar in (0.95, 1.05, 1.2)]
    ['met', "the machine's", 'not met']
    """
    if found is None or found.high is None or found.count < MIN_RATIOS:
        return "not measured"
    if within is None:
        return "not met" if found.high < bar else "met"
    if not is_the_machines(found, within):
        return "not met" if credible(found.high, within) < bar else "met"
    if within.low >= bar:
        return "met"
    return "not met" if within.high < bar else "the machine's"


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

    def reach(
        self, pair: str, variant: str, rivals: Sequence[str], measure: Measure
    ) -> dict[str, list[list[Explained | None]]]:
        """Category -> one row a group with what drafting explains against each rival."""
        rows: dict[str, list[list[Explained | None]]] = defaultdict(list)
        for group in self._of(pair, (variant, *rivals), None):
            row = [reach(group[variant], group[rival], decode=measure == "decode") for rival in rivals]
            rows[group[variant].category].append(row)
        return dict(rows)

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
        one = found.get(target.scope)
        if one is None:
            return Verdict(target, "not measured")
        return Verdict(target, judge(one.factor, target.bar, one.within), one.factor, within=one.within)
    measured = {name: one for name, one in found.items() if name != OVERALL and one.factor.count >= MIN_RATIOS}
    if not measured:
        return Verdict(target, "not measured")
    said = {name: judge(one.factor, target.bar, one.within) for name, one in measured.items()}
    status: Status = next((each for each in ("not met", "the machine's") if each in said.values()), "met")
    worst = min((name for name in said if said[name] == status), key=lambda name: measured[name].factor.value)
    failing = tuple(name for name in said if said[name] == "not met")
    return Verdict(target, status, measured[worst].factor, worst, failing, len(measured), measured[worst].within)


def by_scope(target: Target, ratios: Ratios, measure: Measure) -> dict[str, Measured]:
    """Every category's estimate, and OVERALL."""
    if target.against in (BEST_LOOKUP, BEST_FIXED):
        return _against_rivals(target, ratios, measure)
    groups = ratios.by_category(target.pair, target.variant, target.against, measure)
    reaches = ratios.reach(target.pair, target.variant, (target.against,), measure)
    within = {category: [row[0] for row in rows] for category, rows in reaches.items()}
    found = {
        category: Measured(one, mean([within[category]]))
        for category, values in groups.items()
        if (one := estimate([values])) is not None
    }
    overall = estimate(list(groups.values()))
    return found if overall is None else {**found, OVERALL: Measured(overall, mean(list(within.values())))}


def _against_rivals(target: Target, ratios: Ratios, measure: Measure) -> dict[str, Measured]:
    """Each against the best of several."""
    rivals = rivals_of(target, ratios)
    if not rivals:
        return {}
    rows = ratios.rows(target.pair, target.variant, rivals, measure)
    reaches = ratios.reach(target.pair, target.variant, rivals, measure)
    rows[OVERALL] = [row for category in rows.values() for row in category]
    reaches[OVERALL] = [row for category in reaches.values() for row in category]
    return {
        scope: Measured(found[1], mean([[row[found[0]] for row in reaches[scope]]]))
        for scope, values in rows.items()
        if (found := against_best(values)) is not None
    }


def verdicts(results: Results, measure: Measure = "answer") -> list[Verdict]:
    """All targets' verdicts."""
    ratios = Ratios(results.runs)
    return [verdict(target, ratios, measure) for target in TARGETS]
