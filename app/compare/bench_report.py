"""A benchmark's results as JSON, CSV, Markdown and for reading."""

from __future__ import annotations

import csv
import io
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from app import __version__
from app.compare.bench import Bench, Line, same_everywhere, summary, verdict
from app.compare.conduct import OF_PEAKS
from app.compare.report import busy_words, run_json, started_at
from app.percent import share
from app.receipt_words import many
from app.tui.names import model_name
from engine.protocol import Described, PairInfo
from engine.stats import factor_words

COLUMNS: Final = ("category", "way", "factor", "tokens/s", "accepted", "tokens/pass", "runs")


def as_json(bench: Bench, pair: PairInfo | None, described: Described | None) -> dict[str, Any]:
    """Everything: circumstances, summary, and every run with its figures and receipt."""
    return {
        "slipstream": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": os.cpu_count()},
        "build": {"versions": described.versions, "system_info": described.system_info} if described else None,
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "pair": pair.model_dump(mode="json") if pair else None,
        "settings": bench.wanted.model_dump(mode="json", exclude={"messages", "prompt_ids"}),
        "ways": [way.label for way in bench.ways],
        "repetitions": bench.repetitions,
        "stopped": bench.stopped,
        "failure": bench.failure or None,
        "left_out": bench.left_out,
        "notes": [*_busy(bench), *bench.notes],
        "runs_wanted": bench.runs_wanted,
        "identical": dict(zip(("prompts", "compared"), same_everywhere(bench), strict=True)),
        "summary": [{**asdict(line), "finding": line.finding} for line in summary(bench)],
        "verdict": " ".join(verdict(bench)),
        "runs": [{"task": task.id, "category": task.category, **run_json(run)} for task, run in bench.in_order],
    }


def as_csv(bench: Bench) -> str:
    """A line for each run, in the order in which they were made."""
    out = io.StringIO()
    names = ("total_seconds", "time_to_first_token", "decode_tokens_per_second", "output_tokens", "drafted", "accepted")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["number", "started", "task", "category", "way", "repetition", "finish_reason", *names])
    for task, run in bench.in_order:
        figures = [getattr(run.stats, name) for name in names]
        made = [run.number, started_at(run), task.id, task.category, run.way.label, run.repetition, run.finish_reason]
        writer.writerow([*made, *figures])
    return out.getvalue().rstrip("\n")


def as_markdown(bench: Bench, pair: PairInfo | None) -> str:
    """The summary as a table."""
    rows = ["| " + " | ".join(COLUMNS) + " |", "|---|---|---:|---:|---:|---:|---:|"]
    rows += ["| " + " | ".join(_cells(line)) + " |" for line in summary(bench)]
    return "\n".join(
        [*_heading(bench, pair), "", *rows, "", same_words(bench), *verdict(bench), *notes(bench), *_busy(bench)]
    )


def as_text(bench: Bench, pair: PairInfo | None) -> str:
    """The summary in columns."""
    table = [list(COLUMNS), *(_cells(line) for line in summary(bench))]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return "\n".join(
        [*_heading(bench, pair), "", *lines, "", same_words(bench), *verdict(bench), *notes(bench), *_busy(bench)]
    )


def same_words(bench: Bench) -> str:
    """How many prompts were answered alike by every way."""
    same, compared = same_everywhere(bench)
    if not compared:
        return "No two answers could be compared."
    if same == compared == 1:
        return "Identical answers by every way on the one prompt."
    if same == compared:
        return f"Identical answers by every way on all {compared} prompts."
    return f"Identical answers by every way on {same} of {compared} prompts."


def cut_words(bench: Bench) -> str:
    """How far a benchmark came that ended before its time, and what its figures are over; empty where it is whole."""
    made, wanted = bench.runs_made, bench.runs_wanted
    if made >= wanted:
        return ""
    ended = "Ended by a failure" if bench.failure else "Stopped"
    words = f"{ended} after {made:,} of {many(wanted, 'run')} ({many(bench.repetitions, 'run')} of each way wanted)."
    if not bench.runs_alone:
        return words
    return f"{words} The figures leave out {many(bench.runs_alone, 'run')} that not every way has made."


def notes(bench: Bench) -> list[str]:
    """What the reader of the summary has to know. It shows no peaks of memory, so nothing is said of them."""
    return [*bench.left_out, *(note for note in bench.notes if not note.startswith(OF_PEAKS))]


def _busy(bench: Bench) -> list[str]:
    return busy_words([run for comparison in bench.comparisons for run in comparison.runs])


def _heading(bench: Bench, pair: PairInfo | None) -> list[str]:
    cut = [words] if (words := cut_words(bench)) else []
    if pair is None:
        return cut
    draft = f" + {model_name(pair.draft)}" if pair.draft else ""
    measured = many(len(bench.tasks), "prompt")
    if not cut:
        measured += f", {many(bench.repetitions, 'run')} of each way"
    return [
        f"{model_name(pair.target)}{draft}: {measured}, {many(pair.threads, 'thread')}, {pair.badge}",
        *cut,
        f"factor: {factor_words('mean_factor', bench.ways[0].label)}",
    ]


def _cells(line: Line) -> list[str]:
    return [
        line.category,
        line.way,
        _factor(line),
        "–" if line.tokens_per_second is None else f"{line.tokens_per_second:.1f}",
        "–" if line.acceptance is None else share(line.acceptance),
        "–" if line.tokens_per_pass is None else f"{line.tokens_per_pass:.2f}",
        str(line.runs),
    ]


def _factor(line: Line) -> str:
    """Only what was measured: a dash where there is no pair of runs, and where the first way has not run."""
    if line.ratio is not None:
        return str(line.ratio)
    return "1" if line.first and line.runs else "–"
