"""The scorecard: rows of measured values, what each means, the best mode, and the one thing that limits it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.compare.bench import Bench
from app.compare.explained import Explained, Finding, credible, mean
from app.compare.explained import judge as judge_factor
from app.compare.runs import Run
from app.compare.statistics import Estimate, estimate
from app.compare.verdict import paired_ratios, paired_reach, whole
from app.compare.ways import Way
from app.percent import share
from app.score.gain import break_even, gains
from app.tui.names import model_name
from engine.protocol import PairInfo, SelfTestResult

DECODING_LEAST: Final = 0.5
"""Share of a request below which even free tokens would help little."""
CHEAP_PASS: Final = 1.5
"""A pass over four tokens that costs at most so many plain ones is called cheap."""


@dataclass(frozen=True, slots=True)
class Row:
    """``good``: whether this speaks for speculation; None: it does not matter by itself."""

    name: str
    value: str
    words: str
    good: bool | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """``best``: the way that is worth taking, None where that is not known. ``expected``: whole answers of it against
    plain ones. ``limit``: what keeps it from being more."""

    rows: tuple[Row, ...]
    best: str | None
    expected: Estimate | None
    limit: str
    curve: tuple[tuple[int, float], ...]
    """(draft length, expected gain while decoding) of the draft model, or of lookup where it proposes."""
    rival: tuple[str, Estimate] | None = None
    """Where ``best`` is ``off`` or not known: the best other way, and what it would be."""
    explained: Explained | None = None
    """How much of the figure of the best way, or else of its rival, drafting can have caused."""
    curve_of: Literal["draft", "lookup"] = "lookup"
    """Whose gain the curve is."""

    @property
    def curve_title(self) -> str:
        """Above a plot of it: ways of the other drafter stand in figures beside."""
        whose = "the draft model" if self.curve_of == "draft" else "lookup"
        return f"expected gain of {whose} while decoding, by longest draft"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found out. ``bench``: the first way is ``off``."""

    pair: PairInfo
    tested: SelfTestResult | None
    bench: Bench
    draft_memory: int | None
    foreign: float | None
    own_chats: bool


def judge(found: Measured) -> Card:
    """The card of what was measured."""
    runs = {way: _runs(found.bench, way) for way in found.bench.ways}
    costs = _costs(found.tested)
    drafter: Literal["draft", "lookup"] = "draft" if found.pair.draft else "lookup"
    draft, acceptance = _draft_cost(found, runs, drafter), _by_position(runs, drafter)
    curve = tuple(gains(costs, draft, acceptance)) if costs else ()
    best, expected, rival, within = _best(found.bench)
    rows = [
        _pass_row(costs),
        *([_draft_row(draft, found.pair)] if found.pair.draft else []),
        _even_row(costs, draft),
        _acceptance_row(runs, found.own_chats),
        *([_memory_row(found.draft_memory)] if found.pair.draft else []),
        _exact_row(found.tested, found.pair),
        _share_row(runs[found.bench.ways[0]]),
        _load_row(found.foreign),
        *([_left_out_row(found.bench)] if found.bench.left_out else []),
    ]
    return Card(tuple(rows), best, expected, _limit(rows, best), curve, rival, within, drafter)


def _runs(bench: Bench, way: Way) -> list[Run]:
    return [run for comparison in bench.comparisons for run in comparison.of(way)]


def _costs(tested: SelfTestResult | None) -> dict[int, float]:
    return {1: 1.0, **tested.ratios} if tested else {}


def _draft_cost(found: Measured, runs: Mapping[Way, list[Run]], drafter: str) -> float:
    """Seconds of a proposal over seconds of a plain pass, where ``drafter`` alone proposed: what lookup proposes costs
    next to nothing, and would make a draft model cheap."""
    drafting = [run for way, each in runs.items() if way.mode == drafter for run in each]
    proposed = sum(run.stats.drafted for run in drafting)
    seconds = sum(run.stats.draft_seconds for run in drafting)
    if not proposed or not found.tested:
        return 0.0
    return seconds / proposed / found.tested.plain_seconds


def _by_position(runs: Mapping[Way, list[Run]], drafter: str) -> list[float]:
    """How often the i-th proposal is accepted when those before it were."""
    accepted: list[int] = []
    verified: list[int] = []
    for run in (run for each in runs.values() for run in each):
        counts = run.stats.drafters.get(drafter)
        if counts is None:
            continue
        for total, part in ((accepted, counts.accepted_by_position), (verified, counts.verified_by_position)):
            total.extend([0] * (len(part) - len(total)))
            for place, count in enumerate(part):
                total[place] += count
    return [a / v for a, v in zip(accepted, verified, strict=False) if v]


Rival = tuple[str, Estimate]


def _best(bench: Bench) -> tuple[str | None, Estimate | None, Rival | None, Explained | None]:
    """The best way, what it brings, its rival, and what drafting explains of that. The way with the largest mean that
    drafting explains, if its whole interval is above 1; else ``off``, which is 1 by definition; None where there is no
    interval to tell by."""
    found = []
    for way in bench.ways[1:]:
        ratios = [paired_ratios(comparison, way, whole) for comparison in bench.comparisons]
        if (value := estimate(ratios)) is not None:
            within = mean([paired_reach(comparison, way) for comparison in bench.comparisons])
            found.append((way.label, value, within))
    if not found:
        return None, None, None, None
    gains = [each for each in found if finding_of(each[1], each[2]) is Finding.FASTER]
    label, value, within = max(gains or found, key=lambda each: credible(each[1].value, each[2]))
    if value.low is None:
        return None, None, (label, value), within
    if gains:
        return label, value, None, within
    return bench.ways[0].label, Estimate(1.0, 1.0, 1.0, value.count), (label, value), within


def finding_of(found: Estimate, within: Explained | None) -> Finding | None:
    """What a gain says; None without an interval to tell by."""
    if found.low is None or found.high is None:
        return None
    return judge_factor(found.value, found.low, found.high, within)


def _pass_row(costs: Mapping[int, float]) -> Row:
    if 4 not in costs:
        return Row("longer passes", "–", "not measured: this model cannot take tokens back")
    words = "  ".join(f"V({n}) {costs[n]:.2f}" for n in (2, 4, 8, 16) if n in costs)
    cheap = costs[4] <= CHEAP_PASS
    says = (
        "checking four tokens costs little more than one" if cheap else "checking four tokens costs much more than one"
    )
    return Row("longer passes", f"{costs[4]:.2f}", f"{says}: {words}", cheap)


def _draft_row(draft: float, pair: PairInfo) -> Row:
    name = model_name(pair.draft) if pair.draft else ""
    return Row("a proposal", f"{draft:.2f}", f"of a plain pass is what a token of {name} takes", draft <= 0.25)


def _even_row(costs: Mapping[int, float], draft: float) -> Row:
    if not costs:
        return Row("break-even", "–", "not known without the cost of longer passes")
    found = break_even(costs, draft)
    if found is None:
        return Row("break-even", "never", "drafting would cost more than it brings even if it were always right", False)
    needed, length = found
    return Row("break-even", share(needed), f"accepted at a draft length of {length}, and drafting pays")


def _acceptance_row(runs: Mapping[Way, list[Run]], own: bool) -> Row:
    work = "your own latest chats" if own else "the bundled prompts"
    drafted = [run for each in runs.values() for run in each if run.stats.drafted]
    accepted = sum(run.stats.accepted for run in drafted)
    verified = accepted + sum(run.stats.rejected for run in drafted)
    if not verified:
        return Row("accepted", "–", f"nothing was proposed on {work}", False)
    covered = share(accepted, sum(run.stats.output_tokens for run in drafted))
    return Row("accepted", share(accepted, verified), f"on {work}; that is {covered} of the text")


def _memory_row(size: int | None) -> Row:
    value = "–" if size is None else f"{size / 1e9:.1f} GB"
    return Row("memory", value, "for the draft model and its cache (estimated)")


def _exact_row(tested: SelfTestResult | None, pair: PairInfo) -> Row:
    if tested is None:
        return Row("exactness", pair.badge, "not tested: this model cannot take tokens back")
    return Row("exactness", "exact" if tested.exact else "fast only", tested.words)


def _share_row(plain: Sequence[Run]) -> Row:
    shares = [
        1 - (run.stats.prefill_seconds + run.stats.queue_seconds) / run.stats.total_seconds
        for run in plain
        if run.stats.total_seconds
    ]
    if not shares:
        return Row("decoding", "–", "no plain answer was made")
    writing = statistics.median(shares)
    enough = writing >= DECODING_LEAST
    words = "of a request is writing, the part that can be made faster"
    return Row("decoding", share(writing), words if enough else f"{words}; the rest is reading the prompt", enough)


def _load_row(foreign: float | None) -> Row:
    if foreign is None:
        return Row("other work", "–", "what other processes do cannot be seen on this system")
    quiet = foreign <= 0.15
    words = "cores were used by other processes meanwhile"
    return Row("other work", f"{foreign:.1f}", words if quiet else f"{words}; measure again when they are done", quiet)


def _left_out_row(bench: Bench) -> Row:
    many = len(bench.left_out)
    words = "prompt was not answered" if many == 1 else "prompts were not answered"
    return Row("left out", str(many), f"{words}: {bench.left_out[0]}")


def _limit(rows: Sequence[Row], best: str | None) -> str:
    """The first row that speaks against it, in the order in which they matter."""
    against = {row.name: row for row in rows if row.good is False}
    for name in ("other work", "break-even", "decoding", "longer passes", "a proposal", "accepted"):
        if name in against:
            row = against[name]
            return f"What limits it: {row.name}, {row.value} ({row.words})."
    if best is None:
        return "What limits it is not known from one run of each way: measure more."
    if best == "off":
        return "What limits it: too few proposals are right on this work."
    return "What limits it: how many proposals are right; nothing here speaks against it."
