"""A benchmark: the same comparison over many prompts, sorted by what kind of work they are."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.compare.conduct import Comparison, hold, one_round, together, warm_up
from app.compare.explained import Explained, Finding, claim, explained, judge, mean
from app.compare.fitting import Cancelled, Engine, why_not
from app.compare.runs import Run, RunFailed
from app.compare.statistics import Estimate, estimate
from app.compare.suite import Task
from app.compare.verdict import ENOUGH, identical, whole
from app.compare.ways import Way
from app.receipt_words import many
from engine.protocol import GenerateSettings, LoadSettings


@dataclass
class Bench:
    """One comparison for each task, all with the same ways, settings and pair."""

    tasks: list[Task]
    ways: tuple[Way, ...]
    wanted: GenerateSettings
    load: LoadSettings
    repetitions: int
    comparisons: list[Comparison] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """A sentence for each prompt that the loaded pair cannot answer; it is in ``tasks`` no longer."""
    stopped: bool = False
    failure: str = ""
    """What ended it before its time, in a sentence, where that was not a stop."""

    def __post_init__(self) -> None:
        numbers = itertools.count(1)
        self.comparisons = [
            Comparison(
                self.ways,
                self.wanted.model_copy(
                    update={"messages": (*self.wanted.messages, *task.messages), "prompt_ids": task.prompt_ids}
                ),
                self.load,
                self.repetitions,
                numbers=numbers,
            )
            for task in self.tasks
        ]

    @property
    def categories(self) -> list[str]:
        return list(dict.fromkeys(task.category for task in self.tasks))

    @property
    def notes(self) -> list[str]:
        """What the reader of the figures has to know, each of it once."""
        return list(dict.fromkeys(note for comparison in self.comparisons for note in comparison.notes))

    @property
    def in_order(self) -> list[tuple[Task, Run]]:
        """Every run with its task, in the order in which they were made."""
        every = [(task, run) for task, each in zip(self.tasks, self.comparisons, strict=True) for run in each.runs]
        return sorted(every, key=lambda pair: pair[1].number)

    @property
    def runs_made(self) -> int:
        return sum(len(comparison.seconds) for comparison in self.comparisons)

    @property
    def runs_wanted(self) -> int:
        return len(self.tasks) * len(self.ways) * self.repetitions

    @property
    def runs_alone(self) -> int:
        """Whole runs that are in no figure, since another way has none to hold against them."""
        counted = sum(len(self.ways) * len(together(comparison, self.ways)) for comparison in self.comparisons)
        return self.runs_made - counted

    @property
    def seconds_left(self) -> float | None:
        """By the mean of the runs so far; None before the first."""
        seconds = [each for comparison in self.comparisons for each in comparison.seconds]
        return (self.runs_wanted - len(seconds)) * statistics.mean(seconds) if seconds else None


async def run_bench(
    engine: Engine,
    bench: Bench,
    *,
    changed: Callable[[Task, Run], None] = lambda task, run: None,
    warming: Callable[[Way], None] = lambda way: None,
) -> Bench:
    """Look whether the prompts fit, warm up once, then every way on every prompt, as often as wanted. Set
    ``bench.stopped`` and cancel the engine's request to end it early. Raises RunFailed, whose words ``bench.failure``
    has: what was measured before stays in ``bench``."""
    try:
        await _run(engine, bench, changed, warming)
    except RunFailed as error:
        bench.failure = str(error)
        raise
    return bench


async def _run(
    engine: Engine, bench: Bench, changed: Callable[[Task, Run], None], warming: Callable[[Way], None]
) -> None:
    if await hold(engine, bench.comparisons[0], bench.ways[0]):
        await _leave_out(engine, bench)
    bench.stopped = bench.stopped or bench.comparisons[0].stopped
    if bench.stopped:
        return
    await warm_up(engine, bench.comparisons[0], warming)
    for repetition in range(bench.repetitions):
        for place, (task, comparison) in enumerate(zip(bench.tasks, bench.comparisons, strict=True)):
            comparison.stopped = bench.stopped
            await one_round(engine, comparison, repetition, place=place, changed=partial(changed, task))
            bench.stopped = bench.stopped or comparison.stopped


async def _leave_out(engine: Engine, bench: Bench) -> None:
    """The prompts that do not fit, and say so. RunFailed where none does."""
    fitting = []
    try:
        for task, comparison in zip(bench.tasks, bench.comparisons, strict=True):
            if (reason := await why_not(engine, comparison.wanted)) is None:
                fitting.append((task, comparison))
            else:
                bench.left_out.append(f"{task.name} is left out: {reason}")
    except Cancelled:
        bench.stopped = True
        return
    if not fitting:
        raise RunFailed(f"No prompt can be answered. {bench.left_out[0]}")
    bench.tasks, bench.comparisons = [task for task, _ in fitting], [comparison for _, comparison in fitting]


@dataclass(frozen=True, slots=True)
class Line:
    """One way on one category (or on all): how much faster than the first way on whole answers, and its figures."""

    category: str
    way: str
    first: bool
    """Whether this is the way that the others are held against: its factor is 1 by definition, once it has run."""
    ratio: Estimate | None
    """Geometric mean of paired ratios with its 95 % interval; None for the first way itself, and where there is no
    pair of runs to compare."""
    explained: Explained | None
    """How much of the factor drafting can have caused."""
    tokens_per_second: float | None
    acceptance: float | None
    tokens_per_pass: float | None
    runs: int

    @property
    def finding(self) -> Finding | None:
        """What the factor says; None where there are too few runs to say anything."""
        if (found := self.ratio) is None or found.low is None or found.high is None or found.count < ENOUGH:
            return None
        return judge(found.value, found.low, found.high, self.explained)


def summary(bench: Bench) -> list[Line]:
    """A line for each category and way, then one for all categories, each of which weighs the same. All of them over
    what every way has: where a bench ended early, figures of unlike prompts would stand beside each other."""
    lines = [_line(bench, [category], category, way) for category in bench.categories for way in bench.ways]
    if len(bench.categories) > 1:
        lines += [_line(bench, bench.categories, "all", way) for way in bench.ways]
    return lines


def _line(bench: Bench, categories: Sequence[str], name: str, way: Way) -> Line:
    groups = [
        [comparison for task, comparison in zip(bench.tasks, bench.comparisons, strict=True) if task.category == each]
        for each in categories
    ]
    place = bench.ways.index(way)
    rounds = [[round_ for comparison in group for round_ in together(comparison, bench.ways)] for group in groups]
    runs = [round_[place] for group in rounds for round_ in group]
    ratios = [[ratio for round_ in group if (ratio := _ratio(round_[0], round_[place]))] for group in rounds]
    rates = [rate for run in runs if (rate := run.stats.decode_tokens_per_second)]
    within = [[explained(round_[0].stats, round_[place].stats) for round_ in group] for group in rounds]
    accepted = sum(run.stats.accepted for run in runs)
    verified = accepted + sum(run.stats.rejected for run in runs)
    tokens, passes = sum(run.stats.output_tokens for run in runs), sum(run.stats.target_passes for run in runs)
    return Line(
        name,
        way.label,
        way == bench.ways[0],
        None if way == bench.ways[0] else estimate(ratios),
        None if way == bench.ways[0] else mean(within),
        statistics.median(rates) if rates else None,
        accepted / verified if verified else None,
        tokens / passes if passes else None,
        len(runs),
    )


def verdict(bench: Bench) -> list[str]:
    """A sentence for each way behind the first about all categories, then one for each factor of a single category that
    drafting does not explain."""
    lines = summary(bench)
    base = bench.ways[0].label
    final = [line for line in lines[-len(bench.ways) :] if not line.first]
    doubted = [line for line in lines[: -len(bench.ways)] if line.finding is Finding.MACHINE]
    return [
        *(f"{_sentence(line, base)}." for line in final if line.ratio is not None),
        *(f"{line.category}: {_sentence(line, base)}." for line in doubted),
    ]


def _sentence(line: Line, base: str) -> str:
    found = line.ratio
    assert found is not None, "there is a pair of runs"
    if line.finding is None or found.low is None or found.high is None:
        pairs = many(found.count, "pair")
        return f"{line.way} was {found.value:.2f}x as fast as {base} in {pairs} of runs, too few to say more"
    if line.finding is Finding.ALIKE:
        spread = f"({found.low:.2f} to {found.high:.2f})"
        return f"No difference between {line.way} and {base} that {found.count} pairs of runs could show {spread}"
    return claim(line.way, base, found.value, found.low, found.high, line.explained)


def _ratio(base: Run, run: Run) -> float | None:
    """How many times less time ``run`` took on the whole answer."""
    one, other = whole(base), whole(run)
    return one / other if one and other else None


def same_everywhere(bench: Bench) -> tuple[int, int]:
    """On how many prompts every run gave the same tokens, and on how many that could be compared."""
    found = [same for comparison in bench.comparisons if (same := identical(comparison)) is not None]
    return sum(found), len(found)
