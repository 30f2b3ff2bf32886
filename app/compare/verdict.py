"""What the runs allow to say: medians, ratios with their spread, and one sentence that claims no more than these."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.compare.conduct import Comparison, together
from app.compare.explained import Explained, Finding, claim, credible, explained, judge, middle
from app.compare.order import fork
from app.compare.runs import Run
from app.compare.ways import Way
from app.percent import share
from app.receipt import duration
from engine.stats import factor_words

ENOUGH = 3
"""Runs of each way without which a difference is not called one."""

A_DRAFT: Final = 50_000_000
"""Bytes beyond the first way's from which on they are called a draft's."""

FACTOR: Final = "factor"
"""Above the ratios in a table."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster, run against neighbouring run: the median, and the smallest and largest. ``explained``:
    how much of that drafting can have caused; None where that is not known."""

    median: float
    low: float
    high: float
    count: int
    explained: Explained | None = None

    @property
    def finding(self) -> Finding:
        """What it says, however few runs there are."""
        return judge(self.median, self.low, self.high, self.explained)

    @property
    def faster(self) -> bool:
        """For certain: enough runs, every one of them gained, and drafting explains that."""
        return self.count >= ENOUGH and self.finding is Finding.FASTER

    @property
    def slower(self) -> bool:
        """For certain, likewise."""
        return self.count >= ENOUGH and self.finding is Finding.SLOWER

    @property
    def alike(self) -> bool:
        """Enough runs, and no difference that all of them show."""
        return self.count >= ENOUGH and self.finding is Finding.ALIKE

    def __str__(self) -> str:
        return f"{self.median:.2f}x" + (f"  ({self.low:.2f} – {self.high:.2f})" if self.count > 1 else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of every way. ``ratios``: of the ways behind the first against it, where that makes sense."""

    name: str
    cells: tuple[str, ...]
    ratios: tuple[Ratio | None, ...] = ()


Within = Callable[[Run, Run], Explained | None]
"""What drafting explains of the difference between two runs in a figure."""


def speedup(comparison: Comparison, way: Way) -> Ratio | None:
    """How many times less time the whole answer takes than by the first way, by paired runs; None before the first
    pair."""
    return _ratio(comparison, way, whole, _of_whole)


def _ratio(
    comparison: Comparison, way: Way, seconds: Callable[[Run], float | None], within: Within | None
) -> Ratio | None:
    ratios = paired_ratios(comparison, way, seconds)
    if not ratios:
        return None
    reach = middle(paired_reach(comparison, way, within)) if within else None
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), len(ratios), reach)


def paired_ratios(comparison: Comparison, way: Way, seconds: Callable[[Run], float | None]) -> list[float]:
    """The first way's seconds over this way's, for runs that were made one after the other."""
    pairs = [(seconds(base), seconds(run)) for base, run in together(comparison, (comparison.ways[0], way))]
    return [one / other for one, other in pairs if one and other]


def paired_reach(comparison: Comparison, way: Way, within: Within | None = None) -> list[Explained | None]:
    """Of the same pairs, what drafting explains; by default of whole answers."""
    return [(within or _of_whole)(base, run) for base, run in together(comparison, (comparison.ways[0], way))]


def _of_whole(base: Run, run: Run) -> Explained | None:
    return explained(base.stats, run.stats)


def _of_decoding(base: Run, run: Run) -> Explained | None:
    return explained(base.stats, run.stats, per_token=True)


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
        within: Within | None = None,
    ) -> Row:
        cells = tuple(_middle(each, figure, words) for each in runs)

        def inverse(run: Run) -> float | None:
            value = figure(run)
            return 1 / value if value else None

        seconds = inverse if rate else figure
        ratios = tuple(_ratio(comparison, way, seconds, within) for way in ways[1:]) if compared else ()
        return Row(name, cells, ratios)

    return [
        row("whole answer", whole, _seconds, compared=True, within=_of_whole),
        row("to first token", lambda run: run.stats.time_to_first_token, _seconds, compared=True),
        row(
            "tokens/s",
            lambda run: run.stats.decode_tokens_per_second,
            _plain,
            rate=True,
            compared=True,
            within=_of_decoding,
        ),
        row("tokens per pass", lambda run: run.stats.tokens_per_pass, _plain),
        Row("accepted", tuple(_accepted(each) for each in runs)),
        row("of the answer", lambda run: run.stats.coverage if run.stats.drafted else None, share),
        row("drafting", lambda run: run.stats.draft_seconds + run.stats.draft_prefill_seconds or None, _seconds),
        row("verifying", lambda run: run.stats.verify_seconds or None, _seconds),
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


def factor_legend(comparison: Comparison) -> str:
    """What the factors of the table are, below it: not the ratio of the medians beside them."""
    return f"{FACTOR} (1.31x): {factor_words('factor', comparison.ways[0].label)}"


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
    """What is known of each way behind the first. Those that show no difference share a sentence, behind the others."""
    if not comparison.rounds:
        return _no_round(comparison)
    drafts = [0 if None in (size, memory[0]) else (size or 0) - (memory[0] or 0) for size in memory[1:]]
    found = [(way, speedup(comparison, way), draft) for way, draft in zip(comparison.ways[1:], drafts, strict=True)]
    alike = [(way, ratio, draft) for way, ratio, draft in found if ratio is not None and ratio.alike]
    base = comparison.ways[0].label
    sentences = [_judge(base, *each) for each in found if len(alike) < 2 or each not in alike]
    return " ".join([*sentences, _all_alike(base, alike)] if len(alike) > 1 else sentences)


def _no_round(comparison: Comparison) -> str:
    """Why nothing is said of the speed where not every way has run."""
    missing = [way.label for way in comparison.ways if not comparison.of(way)]
    if len(missing) == len(comparison.ways):
        return "No way has run to its end yet; nothing can be said."
    *first, last = missing
    names = f"{', '.join(first)} and {last} have" if first else f"{last} has"
    through = "was not through" if comparison.stopped or comparison.failure else "is not through yet"
    return f"The first round {through}: {names} not run to the end. Nothing can be said of the speed."


def faster_way(comparison: Comparison) -> Way | None:
    """The way that :func:`verdict` calls faster: of those that are it for certain the one with the largest gain that
    drafting explains, or the first where all others are slower for certain; None where that is not known."""
    first, *others = comparison.ways
    ratios = [(speedup(comparison, way), way) for way in others]
    gains = [
        (credible(found.median, found.explained), way) for found, way in ratios if found is not None and found.faster
    ]
    if gains:
        return max(gains, key=lambda each: each[0])[1]
    return first if all(found is not None and found.slower for found, _ in ratios) else None


def _judge(base: str, way: Way, found: Ratio | None, draft: int) -> str:
    """A sentence about one way. ``draft``: bytes more than the first way takes."""
    name = way.label
    if found is None:
        return f"{name} did not run."
    if found.count < ENOUGH:
        runs = "one run" if found.count == 1 else f"{found.count} runs"
        return f"{name} was {found.median:.2f}x as fast as {base} in {runs}: too few to say more."
    if found.alike:
        spread = f"({found.low:.2f} to {found.high:.2f})"
        words = f"No difference between {name} and {base} that {found.count} runs could show {spread}"
    else:
        words = claim(name, base, found.median, found.low, found.high, found.explained)
    return words + (f"; its draft takes {draft / 1e9:.1f} GB." if draft > A_DRAFT else ".")


def _all_alike(base: str, found: Sequence[tuple[Way, Ratio, int]]) -> str:
    """One sentence about two or more ways that show no difference."""
    *first, last = [way.label for way, _, _ in found]
    names = f"Neither {first[0]} nor {last}" if len(first) == 1 else f"None of {', '.join(first)} and {last}"
    runs = min(ratio.count for _, ratio, _ in found)
    low, high = min(ratio.low for _, ratio, _ in found), max(ratio.high for _, ratio, _ in found)
    words = f"{names} differs from {base} by more than {runs} runs could show ({low:.2f} to {high:.2f})"
    sizes = sorted({f"{draft / 1e9:.1f}" for _, _, draft in found if draft > A_DRAFT}, key=float)
    if not sizes:
        return f"{words}."
    return f"{words}; a draft takes {sizes[0] if len(sizes) == 1 else f'{sizes[0]} to {sizes[-1]}'} GB."


def _middle(runs: list[Run], figure: Callable[[Run], float | None], words: Callable[[float], str]) -> str:
    values = [value for run in runs if (value := figure(run)) is not None]
    return words(statistics.median(values)) if values else "–"


def _accepted(runs: list[Run]) -> str:
    accepted = sum(run.stats.accepted for run in runs)
    verified = accepted + sum(run.stats.rejected for run in runs)
    if not verified:
        return "–"
    return f"{share(accepted, verified)} ({accepted}/{verified})"


def _seconds(value: float) -> str:
    return duration(value, digits=2)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _plain(value: float) -> str:
    return f"{value:.1f}"
