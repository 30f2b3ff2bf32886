"""A pair's table: one row a category."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.figures import against_best, estimate
from tests.bench.plan import FIXED
from tests.bench.report.cells import DASH, acceptance, mean, number, of_categories, speed, table
from tests.bench.report.identity import same_text_as_b
from tests.bench.report.limits import ceilings
from tests.bench.run import Results
from tests.bench.targets import OVERALL, Ratios
from tests.bench.work import CATEGORIES


def pair(results: Results, key: str) -> str:
    """The section on one pair."""
    about = results.pairs[key]
    autos = sorted({run.variant for run in results.runs if run.pair == key and run.variant.startswith("auto")})
    if not autos:
        return ""
    tables = [_pair_table(results, key, auto) for auto in autos]
    note = ""
    if key == "c":
        note = (
            "\n\nThis pair is synthetic: identity blocks were appended to a small model, so that its text stays the "
            "same and a pass costs what a larger model's does. It measures the engine, not a pair anybody uses."
        )
    badge = next((loaded["badge"] for loaded in about.get("loaded", {}).values()), "")
    text = same_text_as_b(results) if key == "c" else ""
    return f"### Pair {key}: {about['title']}\n\nMode: {badge or about['mode']}.{note}{text}\n\n" + "\n\n".join(tables)


def _pair_table(results: Results, key: str, auto: str) -> str:
    """One row a category: plain speed, auto against plain, what was accepted, the best fixed length."""
    ratios = Ratios(results.runs)
    answer = ratios.by_category(key, auto, "plain")
    decode = ratios.by_category(key, auto, "plain", "decode")
    suffix = auto.removeprefix("auto")
    fixed = [f"fixed {length}{suffix}" for length in FIXED if ratios.runs_of(key, f"fixed {length}{suffix}")]
    rows_fixed = ratios.rows(key, auto, fixed) if fixed else {}
    alone = f"draft{suffix}" if suffix else ""
    against_alone = ratios.by_category(key, auto, alone) if alone else {}
    fast = ratios.by_category(key, "plain fast", "plain")
    known = ceilings(results, key) if not alone else {}
    head = ["category", "ratios", "plain tok/s", f"{auto} tok/s", "whole answer [95 %]", "decoding"]
    head += ["accepted", "tokens/pass"]
    head += ["lookup at most"] if known else []
    head += [f"against {alone}"] if alone else []
    head += ["best fixed", f"{auto} / best fixed"] if fixed else []
    head += ["fast / exact, plain"] if fast else []
    rows = []
    for category in [*(name for name in CATEGORIES if name in answer), OVERALL]:
        pick = [category] if category != OVERALL else list(answer)
        plain_runs = of_categories(ratios.runs_of(key, "plain"), pick)
        auto_runs = of_categories(ratios.runs_of(key, auto), pick)
        whole = estimate([answer[name] for name in pick])
        row = [
            category.replace("_", "/"),
            str(whole.count if whole else 0),
            speed(plain_runs),
            speed(auto_runs),
            str(whole) if whole else DASH,
            mean([decode[name] for name in pick if name in decode]),
            *acceptance(auto_runs),
        ]
        if known:
            row.append(number(known.get(category)))
        if alone:
            row.append(mean([against_alone[name] for name in pick if name in against_alone], interval=True))
        if fixed:
            row += _best_fixed(fixed, [line for name in pick for line in rows_fixed.get(name, [])])
        if fast:
            row.append(mean([fast[name] for name in pick if name in fast]))
        rows.append(row)
    looping = Ratios(results.runs, looping=True).by_category(key, auto, "plain")
    apart = estimate(list(looping.values()))
    counted = (
        f"\n\nAnswers that end in a loop, counted apart: {apart.count} ratios, {auto} {apart} x plain."
        if apart
        else "\n\nNo answer ended in a loop."
    )
    warm = " and ".join(
        f"{made} at temperature {temperature:g}"
        for temperature in sorted({run.temperature for run in results.runs if run.pair == key})
        if (made := estimate(list(ratios.by_category(key, auto, "plain", temperature=temperature).values())))
    )
    return table(head, rows) + counted + (f" By temperature: {warm}." if warm else "")


def _best_fixed(fixed: Sequence[str], rows: Sequence[Sequence[float]]) -> list[str]:
    found = against_best(rows)
    return [fixed[found[0]].split()[1], str(found[1])] if found else [DASH, DASH]
