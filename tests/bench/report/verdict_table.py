"""The targets and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.reach import reach_words
from tests.bench.report.cells import DASH, number, table
from tests.bench.report.limits import ceilings, costs_of, oracle_best
from tests.bench.run import Results, Run
from tests.bench.targets import EVERY, OVERALL, Ratios, Verdict, verdicts


def targets(results: Results) -> str:
    """The section on the targets."""
    rows = []
    decode = {str(one.target) + one.target.pair: one for one in verdicts(results, "decode")}
    for one in verdicts(results):
        beside = decode[str(one.target) + one.target.pair]
        rows.append(
            [
                one.target.pair,
                str(one.target),
                f"{one.target.bar:g}",
                _measured(one),
                number(beside.measured.value if beside.measured else None),
                one.status if one.status in ("met", "not measured") else f"**{one.status}**",
                _remark(results, one),
            ]
        )
    head = [
        "pair",
        "times as fast as",
        "target",
        "whole answer [95 %]",
        "decoding",
        "verdict",
        "what limits it, or a remark",
    ]
    return "### Targets\n\n" + table(head, rows)


def _remark(results: Results, one: Verdict) -> str:
    words = [_reach(one)]
    if one.status == "not met":
        words.append(_what_limits(results, one))
    elif one.status == "met" and one.measured is not None and not words[0] and one.measured.value < one.target.bar:
        words.append(f"the estimate is below, its interval is not ({one.measured.count} ratios)")
    return "; ".join(word for word in words if word)


def _reach(one: Verdict) -> str:
    return "" if one.measured is None else reach_words(one.measured, one.within)


def _measured(one: Verdict) -> str:
    if one.measured is None:
        return DASH
    if one.target.scope != EVERY:
        return str(one.measured)
    return f"lowest of {one.categories}: {one.worst.replace('_', '/')} {one.measured}"


def verdict_line(one: Verdict) -> str:
    """One line for the terminal."""
    failing = f" (below: {', '.join(one.failing)})" if one.failing else ""
    why = f"; {words}" if (words := _reach(one)) else ""
    return f"{one.status:13}  {one.target.pair}  {one.target} >= {one.target.bar:g}: {_measured(one)}{failing}{why}"


def _what_limits(results: Results, one: Verdict) -> str:
    """The cost curve, the draft's cost, acceptance, and what an oracle gets."""
    pair = one.target.pair
    words = []
    if one.failing:
        words.append("below: " + ", ".join(name.replace("_", "/") for name in one.failing))
    name, cost = costs_of(results, pair, one.target.variant)
    if cost:
        verify = cost["verify"]
        curve = " ".join(f"V({n}) {verify[n - 1] / verify[0]:.2f}" for n in (2, 4, 8) if n <= len(verify))
        words.append(f"{curve} x V(1) {verify[0] * 1000:.1f} ms ({name})")
        if cost.get("draft") and "draft" in one.target.variant + one.target.against + name:
            words.append(f"D {cost['draft'] / verify[0]:.2f} x V(1)")
    ratios = Ratios(results.runs)
    runs = ratios.runs_of(pair, one.target.variant)
    if one.failing or one.target.scope not in (EVERY, OVERALL):
        runs = [run for run in runs if run.category in (*one.failing, one.target.scope)]
    words.append(_acceptance_words(runs))
    known = ceilings(results, pair)
    if one.target.scope in known:
        words.append(f"lookup that knew what holds would decode {known[one.target.scope]:.2f} x")
    if runs:
        reading = sum(run.more.get("prefill_seconds", 0.0) for run in runs) / sum(run.seconds for run in runs)
        words.append(f"{100 * reading:.0f} % of the time is reading the prompt")
    best = oracle_best(results, pair)
    if best:
        words.append(f"an oracle gets {best[1]:.2f} x at length {best[0]}")
    return "; ".join(word for word in words if word)


def _acceptance_words(runs: Sequence[Run]) -> str:
    accepted = sum(run.more.get("accepted", 0) for run in runs)
    verified = accepted + sum(run.more.get("rejected", 0) for run in runs)
    passes = sum(run.more.get("passes", 0) for run in runs)
    if not passes:
        return ""
    per_pass = sum(len(run.tokens) for run in runs) / passes
    rate = f"{100 * accepted / verified:.0f} %" if verified else "nothing drafted"
    return f"accepted {rate}, {per_pass:.2f} tokens a pass"
