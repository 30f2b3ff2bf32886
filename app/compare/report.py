"""A finished comparison as JSON and as text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.compare.causes import Cause
from app.compare.conduct import Comparison
from app.compare.runs import Run
from app.compare.sides import side_words, sides
from app.compare.verdict import FACTOR, Row, factor_legend, first_fork, identical, speedup, table, verdict
from app.receipt_words import many


def as_json(comparison: Comparison, memory: Sequence[int | None], cause: Cause | None) -> dict[str, Any]:
    """``identical``, ``speedup`` (way -> median, low, high, count, and how much drafting explains), ``verdict``,
    ``difference`` (``place`` counts from 0, ``token_number`` from 1 as the words do), ``sides`` (way -> tokens at that
    place), ``runs`` and how they were made."""
    ratios = {way.label: speedup(comparison, way) for way in comparison.ways[1:]}
    wanted = comparison.wanted
    return {
        "identical": identical(comparison),
        "speedup": {label: asdict(ratio) if ratio else None for label, ratio in ratios.items()},
        "verdict": verdict(comparison, memory),
        "difference": {**asdict(cause), "token_number": cause.place + 1} if cause else None,
        "sides": sides(comparison),
        "ways": [way.label for way in comparison.ways],
        "memory": dict(zip([way.label for way in comparison.ways], memory, strict=True)),
        "peak_memory": {way.label: _peak(comparison.of(way)) for way in comparison.ways},
        "rounds": comparison.rounds,
        "stopped": comparison.stopped,
        "failure": comparison.failure or None,
        "notes": [*busy_words(comparison.runs), *comparison.notes],
        "seed": wanted.seed,
        "settings": wanted.model_dump(mode="json", exclude={"messages", "prompt_ids"}),
        "runs": [run_json(run) for run in comparison.runs],
    }


def _peak(runs: Sequence[Run]) -> int | None:
    """The most bytes that the engine had resident during these runs; each run says how that was found."""
    return max((run.peak.bytes for run in runs if run.peak is not None), default=None)


def run_json(run: Run) -> dict[str, Any]:
    """One run with its figures and its receipt."""
    return {
        "number": run.number,
        "started": started_at(run),
        "way": run.way.label,
        "repetition": run.repetition,
        "finish_reason": run.finish_reason,
        "text": run.text,
        "token_ids": run.token_ids,
        "wall_seconds": run.wall_seconds,
        "foreign_cores": run.foreign,
        "peak_memory": None if run.peak is None else asdict(run.peak),
        "stats": run.stats.model_dump(mode="json"),
        "receipt": run.receipt.model_dump(mode="json") if run.receipt else None,
    }


def started_at(run: Run) -> str | None:
    """UTC, ISO 8601."""
    return None if run.started is None else run.started.isoformat(timespec="milliseconds")


def as_text(comparison: Comparison, memory: Sequence[int | None], cause: Cause | None) -> list[str]:
    """The table and the sentences below it, a line each."""
    lines = [*_table(comparison, table(comparison, memory)), "", factor_legend(comparison)]
    if comparison.stopped or comparison.failure:
        ended = "Ended by a failure" if comparison.failure else "Stopped"
        made = f"{many(len(_whole(comparison)), 'run')} of {comparison.repetitions * len(comparison.ways):,}"
        lines.append(f"{ended} after {made}: {many(comparison.rounds, 'run')} of each way.")
    lines.append(same_words(comparison, cause))
    lines.append(verdict(comparison, memory))
    return [*lines, *busy_words(comparison.runs), *comparison.notes]


def stopped_words(comparison: Comparison, memory: Sequence[int | None]) -> str:
    """What the runs showed that were made before it was stopped; empty where there are none."""
    whole = len(_whole(comparison))
    if not whole:
        return ""
    made = f"Compare was stopped after {many(whole, 'run')} of {comparison.repetitions * len(comparison.ways):,}."
    same = [] if identical(comparison) is None else [same_words(comparison, None)]
    return " ".join([made, verdict(comparison, memory), *same])


def busy_words(runs: Sequence[Run]) -> list[str]:
    """A warning where other processes used the machine: such times are theirs as well."""
    runs = [run for run in runs if run.whole]  # no other is in a figure
    shares = [run.foreign for run in runs if run.busy and run.foreign is not None]
    if not shares:
        return []
    cores = statistics.median(shares)
    return [
        f"Other processes used {cores:.1f} cores during {len(shares)} of {len(runs)} runs; measure again when they "
        "are done, and the figures will be this program's own."
    ]


def same_words(comparison: Comparison, cause: Cause | None) -> str:
    """Whether the answers are the same, in words: compared, never assumed."""
    same = identical(comparison)
    runs = _whole(comparison)
    if same is None:
        return "There are no two answers to compare yet."
    if not same:
        forked = first_fork(comparison)
        words = cause.words if cause else f"The answers differ from token {forked[2] + 1 if forked else 1} on."
        return " ".join(filter(None, [words, side_words(comparison)]))
    mode = f", {runs[0].receipt.mode}" if runs[0].receipt else ""
    return f"Identical: {many(len(runs[0].token_ids), 'token')} in all {len(runs)} runs{mode}."


def _whole(comparison: Comparison) -> list[Run]:
    return [run for run in comparison.runs if run.whole]


def _table(comparison: Comparison, rows: list[Row]) -> list[str]:
    labels = [way.label for way in comparison.ways]
    width = max(14, *(len(label) for label in labels), *(len(cell) for row in rows for cell in row.cells))
    name = max(len(row.name) for row in rows)
    factors = [_factors(row, len(labels) - 1) for row in rows]
    heads = [FACTOR] if len(labels) == 2 else [f"{FACTOR} {label}" for label in labels[1:]]
    columns = [max(map(len, column)) for column in zip(heads, *factors, strict=True)]
    named = zip(
        ["", *(row.name for row in rows)], [labels, *(row.cells for row in rows)], [heads, *factors], strict=True
    )
    return [
        (
            f"{title:<{name}}"
            + "".join(f"  {cell:>{width}}" for cell in cells)
            + "".join(f"   {factor:<{column}}" for factor, column in zip(each, columns, strict=True))
        ).rstrip()
        for title, cells, each in named
    ]


def _factors(row: Row, ways: int) -> list[str]:
    """One for each way behind the first, in a column of its own; blank for figures that have none."""
    return ["–" if ratio is None else str(ratio) for ratio in row.ratios] if row.ratios else [""] * ways
