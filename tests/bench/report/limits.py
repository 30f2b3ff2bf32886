"""What passes cost, and how far the best possible drafter would get."""

from __future__ import annotations

from typing import Any

from tests.bench.ceiling import ceiling
from tests.bench.figures import estimate, geometric_mean, loops
from tests.bench.report.cells import DASH, speed, table
from tests.bench.report.identity import plain_answers
from tests.bench.run import Results, Run
from tests.bench.targets import OVERALL, Ratios

SHOWN_WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)


def costs_of(results: Results, pair: str, variant: str) -> tuple[str, dict[str, Any] | None]:
    """The cost record that belongs to a variant: of its draft, of fast mode, or the pair's first."""
    costs = results.costs.get(pair, {})
    words = variant.split()
    for name, cost in costs.items():
        if len(words) > 1 and words[-1] in name.split():
            return name, cost
    return next(iter(costs.items()), ("", None))


def costs(results: Results) -> str:
    """The section on the costs of passes and on what bounds the speed."""
    rows = []
    for key, costs in results.costs.items():
        for name, cost in costs.items():
            verify = cost["verify"]
            curve = [f"{verify[n - 1] / verify[0]:.2f}" if n <= len(verify) else DASH for n in SHOWN_WIDTHS[1:]]
            draft = f"{1000 * cost['draft']:.1f} ({cost['draft'] / verify[0]:.2f})" if cost.get("draft") else DASH
            rows.append([key, name, f"{1000 * verify[0]:.1f}", *curve, draft])
    if not rows:
        return ""
    head = ["pair", "mode, draft", "V(1) ms", *(f"V({n})" for n in SHOWN_WIDTHS[1:]), "D ms (of V(1))"]
    behind = next(cost["behind"] for costs in results.costs.values() for cost in costs.values())
    return (
        f"### Costs and limits\n\nMedian time of a target pass over n tokens behind {behind} tokens, relative to one "
        "token, and of a draft model's pass over one token.\n\n" + table(head, rows) + "\n\n" + _limits(results)
    )


def ceilings(results: Results, key: str) -> dict[str, float]:
    """Category, and OVERALL -> how many times as fast as plain decoding lookup could be on this text and with these
    costs, if it knew which of its proposals hold; see :mod:`tests.bench.ceiling`. Empty where it is not known."""
    cost = costs_of(results, key, "auto")[1]
    prompts = results.prompt_ids.get(key, {})
    if cost is None or not prompts:
        return {}
    categories = {run.prompt: run.category for run in results.runs if run.pair == key}
    found: dict[str, list[float]] = {}
    for (pair, prompt, _), answer in plain_answers(results).items():
        if pair == key and prompt in prompts and answer and not loops(answer):
            bound = ceiling(prompts[prompt], answer, cost["verify"])
            found.setdefault(categories[prompt], []).append(bound)
    means = {category: geometric_mean(values) for category, values in found.items()}
    return {**means, OVERALL: geometric_mean(list(means.values()))} if means else {}


def _limits(results: Results) -> str:
    rows = []
    ratios = Ratios(results.runs)
    for key, about in results.pairs.items():
        loaded = next(iter(about.get("loaded", {}).values()), None)
        if loaded is None:
            continue
        bandwidth = results.copy_bytes_per_second / loaded["weight_bytes"]
        best = oracle_best(results, key)
        auto = next(
            (name for name in sorted({r.variant for r in results.runs if r.pair == key}) if name.startswith("auto")), ""
        )
        rows.append(
            [
                key,
                speed(ratios.runs_of(key, "plain")),
                f"{speed(ratios.runs_of(key, auto))} ({auto})" if auto else DASH,
                f"{best[2]:.1f} ({best[1]:.2f} x plain)" if best else DASH,
                str(best[0]) if best else DASH,
                f"{loaded['weight_bytes'] / 1e6:,.0f}",
                f"{bandwidth:.0f}",
            ]
        )
    head = ["pair", "plain tok/s", "auto tok/s", "oracle tok/s", "its best length", "MB read a pass", "bandwidth tok/s"]
    return (
        "The oracle is a drafter that is always right (it knows the plain answer), at its best length of 1 to 7, on "
        "four prompts. *Bandwidth*: plain passes a second if a pass did nothing but read its weights at the copy rate "
        "(one numpy array of 512 MiB copied by as many threads as decode; bytes read and bytes written both "
        "count).\n\n" + table(head, rows)
    )


def oracle_best(results: Results, pair: str) -> tuple[int, float, float] | None:
    """(best length, times plain, tokens a second). Runs in which fast mode's rounding forked the text are left out."""
    ratios = Ratios(run for run in results.runs if not _lost_oracle(run))
    found = []
    for length in range(1, 8):
        name = f"oracle {length}"
        groups = ratios.by_category(pair, name, "plain", "decode")
        mean = estimate(list(groups.values()))
        rates = [len(run.tokens) / run.decode_seconds for run in ratios.runs_of(pair, name) if run.decode_seconds > 0]
        if mean is not None and rates:
            found.append((length, mean.value, geometric_mean(rates)))
    return max(found, key=lambda one: one[1], default=None)


def _lost_oracle(run: Run) -> bool:
    more = run.more
    verified = more.get("accepted", 0) + more.get("rejected", 0)
    return run.variant.startswith("oracle") and more.get("accepted", 0) < 0.9 * verified
