"""What the runs allow to say: medians, ratios with their spread, and one sentence that claims no more than these."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.compare.conduct import Comparison, together
from app.compare.order import fork
from app.compare.runs import Run
from app.compare.ways import Way

ENOUGH = 3
"""Runs of each way without which a difference is not called one."""


BY_PAIRS: Final = "by pairs of runs"
"""Above the ratios in a table: their median is not the ratio of the medians beside it."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster, run against neighbouring run: the median, and the smallest and largest."""

    median: float
    low: float
    high: float
    count: int

    @property
    def faster(self) -> bool:
        """For certain: enough runs, and every one of them gained."""
        return self.count >= ENOUGH and self.low > 1 and round(self.low, 2) > 1

    @property
    def slower(self) -> bool:
        """For certain, likewise."""
        return self.count >= ENOUGH and self.high < 1 and round(self.high, 2) < 1

    def __str__(self) -> str:
        return f"{self.median:.2f}x" + (f"  ({self.low:.2f} – {self.high:.2f})" if self.count > 1 else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of every way. ``ratios``: of the ways behind the first against it, where that makes sense."""

    name: str
    cells: tuple[str, ...]
    ratios: tuple[Ratio | None, ...] = ()


def speedup(comparison: Comparison, way: Way, seconds: Callable[[Run], float | None]) -> Ratio | None:
    """How many times less time than the first way, by paired runs; None before the first pair."""
    ratios = paired_ratios(comparison, way, seconds)
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), len(ratios)) if ratios else None


def paired_ratios(comparison: Comparison, way: Way, seconds: Callable[[Run], float | None]) -> list[float]:
    """The first way's seconds over this way's, for runs that were made one after the other."""
    pairs = [(seconds(base), seconds(run)) for base, run in together(comparison, (comparison.ways[0], way))]
    return [one / other for one, other in pairs if one and other]


def whole(run: Run) -> float | None:
    """Seconds of the whole answer, from the request to its end."""
    return run.stats.total_seconds


def table(comparison: Comparison, memory: Sequence[int | None]) -> list[Row]:
    """The figures side by side. ``memory``: bytes of each way, None where it is not known."""
    ways = comparison.ways
    runs = [comparison.of(way) for way in ways]

    def row(
        name: str,
        figure: Callable[[Run], float | None],
        words: Callable[[float], str],
        *,
        rate: bool = False,
        compared: bool = False,
    ) -> Row:
        cells = tuple(_middle(each, figure, words) for each in runs)

        def inverse(run: Run) -> float | None:
            value = figure(run)
            return 1 / value if value else None

        ratios = tuple(speedup(comparison, way, inverse if rate else figure) for way in ways[1:]) if compared else ()
        return Row(name, cells, ratios)

    return [
        row("whole answer", whole, _seconds, compared=True),
        row("to first token", lambda run: run.stats.time_to_first_token, _seconds, compared=True),
        row("tokens/s", lambda run: run.stats.decode_tokens_per_second, _plain, rate=True, compared=True),
        row("tokens per pass", lambda run: run.stats.tokens_per_pass, _plain),
        Row("accepted", tuple(_accepted(each) for each in runs)),
        row("of the answer", lambda run: run.stats.coverage if run.stats.drafted else None, _percent),
        row("drafting", lambda run: run.stats.draft_seconds + run.stats.draft_prefill_seconds, _seconds),
        row("verifying", lambda run: run.stats.verify_seconds, _seconds),
        Row("memory, est.", tuple("–" if size is None else _gigabytes(size) for size in memory)),
        *_peaks(runs),
    ]


def _peaks(runs: Sequence[list[Run]]) -> list[Row]:
    """The most memory that the engine had, by way; no row where the system does not tell."""
    peaks = [[run.peak for run in each if run.peak is not None] for each in runs]
    if not any(peaks):
        return []
    cells = tuple(_gigabytes(max(peak.bytes for peak in each)) if each else "–" for each in peaks)
    sampled = any(peak.sampled for each in peaks for peak in each)
    return [Row("memory, seen" if sampled else "memory, peak", cells)]


def identical(comparison: Comparison) -> bool | None:
    """Whether every whole run gave the same tokens; None before two were made."""
    answers = [run.token_ids for run in comparison.runs if run.whole]
    return None if len(answers) < 2 else len(set(answers)) == 1


def first_fork(comparison: Comparison) -> tuple[Run, Run, int] | None:
    """The first run, one that differs from it, and where; None while all are the same."""
    answers = [run for run in comparison.runs if run.whole]
    forks = [(place, run) for run in answers[1:] if (place := fork(answers[0].token_ids, run.token_ids)) is not None]
    if not forks:
        return None
    place, run = min(forks, key=lambda found: found[0])
    return answers[0], run, place


def verdict(comparison: Comparison, memory: Sequence[int | None]) -> str:
    """One sentence about each way behind the first."""
    rounds = comparison.rounds
    if not rounds:
        return "No way has run to its end yet; nothing can be said."
    return " ".join(
        _judge(comparison, way, memory[0], size) for way, size in zip(comparison.ways[1:], memory[1:], strict=True)
    )


def faster_way(comparison: Comparison) -> Way | None:
    """The way that :func:`verdict` calls faster: of those that are it for certain the one with the largest gain, or the
    first where all others are slower for certain; None where that is not known."""
    first, *others = comparison.ways
    ratios = [(speedup(comparison, way, whole), way) for way in others]
    gains = [(found.median, way) for found, way in ratios if found is not None and found.faster]
    if gains:
        return max(gains, key=lambda each: each[0])[1]
    return first if all(found is not None and found.slower for found, _ in ratios) else None


def _judge(comparison: Comparison, way: Way, base_memory: int | None, memory: int | None) -> str:
    base, found = comparison.ways[0].label, speedup(comparison, way, whole)
    if found is None:
        return f"{way.label} did not run."
    if found.count < ENOUGH:
        runs = "one run" if found.count == 1 else f"{found.count} runs"
        return f"{way.label} took {_times(found.median)} in {runs}: too few to say more."
    if found.faster:
        words = f"{way.label} is {found.median:.2f}x faster than {base} here ({found.low:.2f} to {found.high:.2f})"
    elif found.slower:
        words = f"{way.label} is slower than {base} here: {found.median:.2f}x ({found.low:.2f} to {found.high:.2f})"
    else:
        spread = f"({found.low:.2f} to {found.high:.2f})"
        words = f"no difference between {way.label} and {base} that {found.count} runs could show {spread}"
    more = memory - base_memory if memory is not None and base_memory is not None else 0
    return words + (f"; its draft takes {more / 1e9:.1f} GB." if more > 50_000_000 else ".")


def _times(ratio: float) -> str:
    return f"1/{ratio:.2f} of the time" if ratio >= 1 else f"{1 / ratio:.2f} times the time"


def _middle(runs: list[Run], figure: Callable[[Run], float | None], words: Callable[[float], str]) -> str:
    values = [value for run in runs if (value := figure(run)) is not None]
    return words(statistics.median(values)) if values else "–"


def _accepted(runs: list[Run]) -> str:
    accepted = sum(run.stats.accepted for run in runs)
    verified = accepted + sum(run.stats.rejected for run in runs)
    if not verified:
        return "–"
    return f"{100 * accepted / verified:.0f} % ({accepted}/{verified})"


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _plain(value: float) -> str:
    return f"{value:.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
