"""The measurements as Markdown (what README carries) and as a few lines for the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.figures import against_best, estimate, fork, geometric_mean, loops
from tests.bench.plan import FIXED, OUR_ENVIRONMENT, PEER_LOOKUP
from tests.bench.run import Results, Run
from tests.bench.targets import EVERY, OVERALL, Ratios, Verdict, verdicts
from tests.bench.work import CATEGORIES

SHOWN_WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
DASH = "–"


def save(results: Results, path: Path) -> None:
    """All runs, figures and verdicts as JSON."""
    data = results.to_json()
    data["verdicts"] = [
        {
            "pair": one.target.pair,
            "target": str(one.target),
            "bar": one.target.bar,
            "status": one.status,
            "measured": None if one.measured is None else one.measured.value,
            "interval": None if one.measured is None else [one.measured.low, one.measured.high],
            "worst_category": one.worst or None,
            "failing": list(one.failing),
        }
        for one in verdicts(results)
    ]
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """A saved file, to be shown again."""
    return Results.from_json(json.loads(path.read_text(encoding="utf-8")))


# ------------------------------------------------------------------------------------------------------ the whole


def to_markdown(results: Results) -> str:
    """The report."""
    parts = [_head(results), _targets(results)]
    parts += [_pair(results, key) for key in results.pairs]
    parts += [_costs(results), _peers(results), _identity(results), _method(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_lines(results: Results) -> str:
    """The verdicts and the warnings, one a line."""
    lines = [_verdict_line(one) for one in verdicts(results)]
    return "\n".join([*lines, *warnings(results)])


def warnings(results: Results) -> list[str]:
    """What a reader must know before believing a figure."""
    found = []
    busy = sum(run.busy for run in results.runs)
    if busy:
        found.append(
            f"Warning: {busy} of {len(results.runs)} runs were taken beside a busy neighbour process "
            "(more than 0.15 cores of foreign work); compare again on a quiet machine."
        )
    if results.runs and all(run.foreign is None for run in results.runs):
        found.append("Whether other processes were busy could not be measured here.")
    if results.interrupted:
        found.append("Stopped early with Ctrl+C: only what was measured until then is shown.")
    wrong = [run for run in results.runs if _mismatch(results, run)]
    if wrong:
        found.append(f"WRONG: {len(wrong)} answers in exact mode differ from plain decoding.")
    return [*found, *(f"Trouble: {trouble}" for trouble in results.troubles)]


def mismatches(results: Results) -> int:
    """Answers in exact mode that are not plain decoding's; 0 or the engine is broken."""
    return sum(_mismatch(results, run) for run in results.runs)


def _head(results: Results) -> str:
    machine = results.machine
    versions = ", ".join(f"{name} {version}" for name, version in results.versions.items() if name != "python")
    lines = [
        f"Taken {results.created[:10]}, {results.form}, {results.minutes:g} minutes: {len(results.runs)} answers of at "
        f"most {results.tokens} tokens to {len({run.prompt for run in results.runs})} prompts. Work: {results.work}.",
        "",
        f"- Machine: {machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory')}, "
        f"{machine.get('system')}; {results.threads} threads for everybody; "
        f"copy rate {results.copy_bytes_per_second / 1e9:.1f} GB/s.",
        f"- Software: Python {machine.get('python')}, {versions}. Build: {machine.get('build flags')}; "
        f"{' '.join(results.system_info.split())}",
        f"- Load average of the last minute: {_number(results.load_before)} before, {_number(results.load_after)} "
        f"after; {sum(run.busy for run in results.runs)} of {len(results.runs)} runs beside a busy neighbour.",
    ]
    return "\n".join([*lines, *(f"- **{line}**" for line in warnings(results))])


# -------------------------------------------------------------------------------------------------------- targets


def _targets(results: Results) -> str:
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
                _number(beside.measured.value if beside.measured else None),
                f"**{one.status}**" if one.status == "not met" else one.status,
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
    return "### Targets\n\n" + _table(head, rows)


def _remark(results: Results, one: Verdict) -> str:
    if one.status == "not met":
        return _what_limits(results, one)
    if one.status == "met" and one.measured is not None and one.measured.value < one.target.bar:
        return f"the estimate is below, its interval is not ({one.measured.count} ratios)"
    return ""


def _measured(one: Verdict) -> str:
    if one.measured is None:
        return DASH
    if one.target.scope != EVERY:
        return str(one.measured)
    return f"lowest of {one.categories}: {one.worst.replace('_', '/')} {one.measured}"


def _verdict_line(one: Verdict) -> str:
    failing = f" (below: {', '.join(one.failing)})" if one.failing else ""
    return f"{one.status:12}  {one.target.pair}  {one.target} >= {one.target.bar:g}: {_measured(one)}{failing}"


def _what_limits(results: Results, one: Verdict) -> str:
    """The cost curve, the draft's cost, acceptance, and what an oracle gets."""
    pair = one.target.pair
    words = []
    if one.failing:
        words.append("below: " + ", ".join(name.replace("_", "/") for name in one.failing))
    name, cost = _costs_of(results, pair, one.target.variant)
    if cost:
        verify = cost["verify"]
        curve = " ".join(f"V({n}) {verify[n - 1] / verify[0]:.2f}" for n in (2, 4, 8) if n <= len(verify))
        words.append(f"{curve} x V(1) {verify[0] * 1000:.1f} ms ({name})")
        if cost.get("draft") and "draft" in one.target.variant + one.target.against + name:
            words.append(f"D {cost['draft'] / verify[0]:.2f} x V(1)")
    ratios = Ratios(results.runs)
    runs = ratios.runs_of(pair, one.target.variant)
    if one.failing:
        runs = [run for run in runs if run.category in one.failing]
    words.append(_acceptance_words(runs))
    best = _oracle_best(results, pair)
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


# ---------------------------------------------------------------------------------------------------- pair by pair


def _pair(results: Results, key: str) -> str:
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
    text = _same_text_as_b(results) if key == "c" else ""
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
    head = ["category", "ratios", "plain tok/s", f"{auto} tok/s", "whole answer [95 %]", "decoding"]
    head += ["accepted", "tokens/pass"]
    head += [f"against {alone}"] if alone else []
    head += ["best fixed", f"{auto} / best fixed"] if fixed else []
    head += ["fast / exact, plain"] if fast else []
    rows = []
    for category in [*(name for name in CATEGORIES if name in answer), OVERALL]:
        pick = [category] if category != OVERALL else list(answer)
        plain_runs = _in(ratios.runs_of(key, "plain"), pick)
        auto_runs = _in(ratios.runs_of(key, auto), pick)
        whole = estimate([answer[name] for name in pick])
        row = [
            category.replace("_", "/"),
            str(whole.count if whole else 0),
            _speed(plain_runs),
            _speed(auto_runs),
            str(whole) if whole else DASH,
            _mean([decode[name] for name in pick if name in decode]),
            *_acceptance(auto_runs),
        ]
        if alone:
            row.append(_mean([against_alone[name] for name in pick if name in against_alone], interval=True))
        if fixed:
            row += _best_fixed(fixed, [line for name in pick for line in rows_fixed.get(name, [])])
        if fast:
            row.append(_mean([fast[name] for name in pick if name in fast]))
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
    return _table(head, rows) + counted + (f" By temperature: {warm}." if warm else "")


def _in(runs: Iterable[Run], categories: Sequence[str]) -> list[Run]:
    return [run for run in runs if run.category in categories]


def _speed(runs: Sequence[Run]) -> str:
    rates = [len(run.tokens) / run.decode_seconds for run in runs if run.decode_seconds > 0 and run.tokens]
    return f"{geometric_mean(rates):.1f}" if rates else DASH


def _acceptance(runs: Sequence[Run]) -> list[str]:
    accepted = sum(run.more.get("accepted", 0) for run in runs)
    verified = accepted + sum(run.more.get("rejected", 0) for run in runs)
    passes = sum(run.more.get("passes", 0) for run in runs)
    return [
        f"{100 * accepted / verified:.0f} %" if verified else DASH,
        f"{sum(len(run.tokens) for run in runs) / passes:.2f}" if passes else DASH,
    ]


def _best_fixed(fixed: Sequence[str], rows: Sequence[Sequence[float]]) -> list[str]:
    found = against_best(rows)
    return [fixed[found[0]].split()[1], str(found[1])] if found else [DASH, DASH]


def _mean(groups: Sequence[Sequence[float]], *, interval: bool = False) -> str:
    found = estimate(groups)
    return DASH if found is None else str(found) if interval else f"{found.value:.2f}"


# ------------------------------------------------------------------------------------------- costs, limits, peers


def _costs_of(results: Results, pair: str, variant: str) -> tuple[str, dict[str, Any] | None]:
    """The cost record that belongs to a variant: of its draft, of fast mode, or the pair's first."""
    costs = results.costs.get(pair, {})
    words = variant.split()
    for name, cost in costs.items():
        if len(words) > 1 and words[-1] in name.split():
            return name, cost
    return next(iter(costs.items()), ("", None))


def _costs(results: Results) -> str:
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
        "token, and of a draft model's pass over one token.\n\n" + _table(head, rows) + "\n\n" + _limits(results)
    )


def _limits(results: Results) -> str:
    rows = []
    ratios = Ratios(results.runs)
    for key, about in results.pairs.items():
        loaded = next(iter(about.get("loaded", {}).values()), None)
        if loaded is None:
            continue
        bandwidth = results.copy_bytes_per_second / loaded["weight_bytes"]
        best = _oracle_best(results, key)
        auto = next(
            (name for name in sorted({r.variant for r in results.runs if r.pair == key}) if name.startswith("auto")), ""
        )
        rows.append(
            [
                key,
                _speed(ratios.runs_of(key, "plain")),
                f"{_speed(ratios.runs_of(key, auto))} ({auto})" if auto else DASH,
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
        "count).\n\n" + _table(head, rows)
    )


def _oracle_best(results: Results, pair: str) -> tuple[int, float, float] | None:
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


def _peers(results: Results) -> str:
    ratios = Ratios(results.runs)
    names = ["Llama plain", *(f"Llama lookup {length}" for length in PEER_LOOKUP)]
    rows = []
    for key in results.pairs:
        for name in [name + suffix for suffix in ("", OUR_ENVIRONMENT) for name in names]:
            runs = ratios.runs_of(key, name)
            if not runs:
                continue
            base = "plain fast" if ratios.runs_of(key, "plain fast") else "plain"
            plain_name = "Llama plain" + (OUR_ENVIRONMENT if name.endswith(OUR_ENVIRONMENT) else "")
            rows.append(
                [
                    key,
                    name,
                    _speed(runs),
                    _mean(list(ratios.by_category(key, name, plain_name).values()), interval=True),
                    f"{_mean(list(ratios.by_category(key, base, name).values()), interval=True)} ({base})",
                    _mean(list(ratios.by_category(key, "auto", name).values()), interval=True),
                ]
            )
    if not rows:
        return ""
    head = ["pair", "peer", "tok/s", "x Llama plain", "our plain / peer", "our auto / peer"]
    return (
        "### Peers\n\nllama-cpp-python's `Llama`, same file, prompts and threads, each in a process of its own with "
        "the environment a user has (and, apart, with the variables our engine sets); asked through `Llama.generate`, "
        "its leanest way. Whole answers.\n\n" + _table(head, rows)
    )


# -------------------------------------------------------------------------------------------------------- identity


def _plain_answers(results: Results) -> dict[tuple[str, str, float], list[int]]:
    answers: dict[tuple[str, str, float], list[int]] = {}
    for run in results.runs:
        if run.variant == "plain":
            answers.setdefault((run.pair, run.prompt, run.temperature), run.tokens)
    return answers


def _mismatch(results: Results, run: Run) -> bool:
    """An answer of our engine in exact mode that differs from plain decoding's."""
    exact = results.pairs.get(run.pair, {}).get("mode") == "exact"
    if not exact or run.variant.startswith("Llama") or run.variant == "plain fast":
        return False
    plain = _plain_answers_cached(results).get((run.pair, run.prompt, run.temperature))
    return plain is not None and plain != run.tokens


_cache: tuple[int, int, dict[tuple[str, str, float], list[int]]] | None = None


def _plain_answers_cached(results: Results) -> dict[tuple[str, str, float], list[int]]:
    global _cache
    if _cache is None or _cache[:2] != (id(results), len(results.runs)):
        _cache = (id(results), len(results.runs), _plain_answers(results))
    return _cache[2]


def _identity(results: Results) -> str:
    plain = _plain_answers(results)
    rows = []
    for key, about in results.pairs.items():
        compared: Counter[str] = Counter()
        forked: Counter[str] = Counter()
        for run in results.runs:
            answer = plain.get((run.pair, run.prompt, run.temperature))
            peer_warm = run.variant.startswith("Llama") and run.temperature > 0  # its random numbers are its own
            if run.pair != key or answer is None or peer_warm:
                continue
            name = "Llama" if run.variant.startswith("Llama") else run.variant
            kind = next((kind for kind in ("fixed", "oracle") if name.startswith(kind)), name)
            compared[kind] += 1
            forked[kind] += fork(answer, run.tokens) is not None
        if not compared:
            continue
        words = ", ".join(f"{kind} {forked[kind]} of {count}" for kind, count in sorted(compared.items()))
        looped = sum(loops(tokens) for (pair, _, _), tokens in plain.items() if pair == key)
        rows.append([key, about["mode"], words, f"{looped} of {sum(pair == key for pair, _, _ in plain)}"])
    if not rows:
        return ""
    head = ["pair", "mode", "answers that differ from plain's first", "plain answers that loop"]
    return (
        "### Same answers?\n\nToken ids against the first plain answer to the same prompt, settings and seed. In exact "
        "mode every count but *plain fast* and *Llama* must be 0; in fast mode texts may fork, and are counted. A "
        "*loop*: the last 32 tokens or three periods, whichever is longer, repeat with a period of at most 32.\n\n"
        + _table(head, rows)
    )


def _same_text_as_b(results: Results) -> str:
    plain = _plain_answers(results)
    both = [
        plain["b", prompt, temperature] == tokens
        for (pair, prompt, temperature), tokens in plain.items()
        if pair == "c" and temperature == 0 and ("b", prompt, temperature) in plain
    ]
    return f" Its greedy plain answers are pair b's in {sum(both)} of {len(both)} cases." if both else ""


def _method(results: Results) -> str:
    return (
        "### How it was measured\n\n"
        f"Context {results.context}, {results.threads} threads, at most {results.tokens} new tokens, top-k 40, top-p "
        "0.95, min-p 0.05, greedy and temperature 0.7 with one fixed seed a prompt. Every run starts from an empty "
        "history and reads its prompt anew, on the draft model, too. Variants take turns on each prompt, rotated from "
        "prompt to prompt and reversed from one repetition to the next, after a warm-up. A ratio is another variant's "
        "time over this one's within one such turn; above 1 is faster. *Whole answer* is the time from the request to "
        "the last token (where a fork changed the length, decoding is scaled to the length of the answer compared "
        "to); *decoding* starts behind the prompt. Means are geometric, every category weighs the same; intervals are "
        "95 % of 2,000 bootstrap resamples of the ratios within each category. *Overall* includes copy/edit. A target "
        "counts as not met only when its interval lies wholly below it."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"
