"""Cells and tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.bench.figures import estimate, geometric_mean
from tests.bench.run import Run

DASH = "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float | None) -> str:
    """Two decimals, or a dash."""
    return DASH if value is None else f"{value:.2f}"


def speed(runs: Sequence[Run]) -> str:
    """Decode speed, tokens a second, geometric mean."""
    rates = [len(run.tokens) / run.decode_seconds for run in runs if run.decode_seconds > 0 and run.tokens]
    return f"{geometric_mean(rates):.1f}" if rates else DASH


def acceptance(runs: Sequence[Run]) -> list[str]:
    """Acceptance and tokens per pass, over all runs together."""
    accepted = sum(run.more.get("accepted", 0) for run in runs)
    verified = accepted + sum(run.more.get("rejected", 0) for run in runs)
    passes = sum(run.more.get("passes", 0) for run in runs)
    return [
        f"{100 * accepted / verified:.0f} %" if verified else DASH,
        f"{sum(len(run.tokens) for run in runs) / passes:.2f}" if passes else DASH,
    ]


def mean(groups: Sequence[Sequence[float]], *, interval: bool = False) -> str:
    """Geometric mean of ratios in groups that weigh the same."""
    found = estimate(groups)
    return DASH if found is None else str(found) if interval else f"{found.value:.2f}"


def of_categories(runs: Iterable[Run], categories: Sequence[str]) -> list[Run]:
    """The runs of these categories."""
    return [run for run in runs if run.category in categories]
