"""The whole report, the short one, and the file that keeps every run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.report.cells import number
from tests.bench.report.identity import identity, mismatches
from tests.bench.report.limits import costs
from tests.bench.report.pair_tables import pair
from tests.bench.report.peers import peers
from tests.bench.report.verdict_table import targets, verdict_line
from tests.bench.run import Results
from tests.bench.targets import verdicts


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
            "explained": None if one.within is None else [one.within.low, one.within.high],
        }
        for one in verdicts(results)
    ]
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """A saved file, to be shown again."""
    return Results.from_json(json.loads(path.read_text(encoding="utf-8")))


def to_markdown(results: Results) -> str:
    """The report."""
    parts = [_head(results), targets(results)]
    parts += [pair(results, key) for key in results.pairs]
    parts += [costs(results), peers(results), identity(results), _method(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_lines(results: Results) -> str:
    """The verdicts and the warnings, one a line."""
    lines = [verdict_line(one) for one in verdicts(results)]
    return "\n".join([*lines, *warnings(results)])


def warnings(results: Results) -> list[str]:
    """What a reader must know before believing a figure."""
    found = []
    busy = sum(run.busy for run in results.runs)
    if busy:
        found.append(
            f"{busy} of {len(results.runs)} runs were taken beside a busy neighbour process (more than 0.15 cores of "
            "foreign work) and are left out of every ratio and mean."
        )
    if results.runs and all(run.foreign is None for run in results.runs):
        found.append("Whether other processes were busy could not be measured here.")
    if results.interrupted:
        found.append("Stopped early with Ctrl+C: only what was measured until then is shown.")
    wrong = mismatches(results)
    if wrong:
        found.append(f"WRONG: {wrong} answers in exact mode differ from plain decoding.")
    return [*found, *(f"Trouble: {trouble}" for trouble in results.troubles)]


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
        f"- Load average of the last minute: {number(results.load_before)} before, {number(results.load_after)} "
        f"after; {sum(run.busy for run in results.runs)} of {len(results.runs)} runs beside a busy neighbour.",
    ]
    return "\n".join([*lines, *(f"- **{line}**" for line in warnings(results))])


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
        "counts as not met only when its interval lies wholly below it. A gain or a loss counts only as far as "
        "drafting can have caused it, by the passes that it saved and the time that it took; a target whose verdict "
        "hangs on the rest is *the machine's*. *Lookup at most*: what decoding would gain "
        "over plain with the same lookup, on the same answers and at the measured costs of passes, if it knew at every "
        "pass how many of its proposals hold."
    )
