"""Conducting a comparison: warm-up, then every way in turn, as often as wanted, until somebody stops it.

Every run begins before the prompt is read, on caches that hold nothing (the draft model reads it, too, where it is
used), with the same seed. Lookup sees the run's own prompt and answer, since the engine was made to forget the rest.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from app.compare.memory import PeakMemory
from app.compare.neighbours import Neighbours, foreign
from app.compare.order import alternating
from app.compare.runs import Engine, Run, RunFailed, run_once
from app.compare.ways import Way
from engine.protocol import ErrorCode, Failed, GenerateSettings, LoadSettings, PairInfo

RUNS: Final = 3
WARM_UP_TOKENS: Final = 16
OF_PEAKS: Final = "The peak memory"
"""How a note about that figure begins: it is for those who see one."""


@dataclass
class Comparison:
    """What was asked, and the runs so far, in the order they were made."""

    ways: tuple[Way, ...]
    wanted: GenerateSettings
    """As every run is made; ``seed`` is set."""
    load: LoadSettings
    repetitions: int = RUNS
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the reader of the figures has to know."""
    refused: set[Way] = field(default_factory=set)
    """Ways that run without their draft: it was refused, and lookup alone proposes."""
    stopped: bool = False
    failure: str = ""
    """What ended it before its time, in a sentence, where that was not a stop."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """Of its runs; comparisons that take turns share them."""
    seconds: list[float] = field(default_factory=list)
    """What the whole runs took, by a clock outside the engine."""

    def of(self, way: Way) -> list[Run]:
        """The whole runs of a way, oldest first."""
        return [run for run in self.runs if run.way == way and run.whole]

    @property
    def rounds(self) -> int:
        """How often every way has run."""
        return min((len(self.of(way)) for way in self.ways), default=0)

    @property
    def done(self) -> float:
        """Share of the wanted runs that was made."""
        return len([run for run in self.runs if run.whole]) / (self.repetitions * len(self.ways))

    @property
    def seconds_left(self) -> float | None:
        """By the mean of the runs so far; None before the first."""
        if not self.seconds:
            return None
        left = self.repetitions * len(self.ways) - len(self.seconds)
        return left * sum(self.seconds) / len(self.seconds)


async def conduct(
    engine: Engine,
    comparison: Comparison,
    *,
    changed: Callable[[Run], None] = lambda run: None,
    warming: Callable[[Way], None] = lambda way: None,
) -> Comparison:
    """Warm up, then run. ``changed`` hears of every piece of a run, ``warming`` of every warm-up. Set
    ``comparison.stopped`` and cancel the engine's request to end it early: what is whole stays. Raises RunFailed, whose
    words ``comparison.failure`` has."""
    try:
        await warm_up(engine, comparison, warming)
        for repetition in range(comparison.repetitions):
            await one_round(engine, comparison, repetition, changed=changed)
    except RunFailed as error:
        comparison.failure = str(error)
        raise
    return comparison


async def warm_up(engine: Engine, comparison: Comparison, warming: Callable[[Way], None] = lambda way: None) -> None:
    """A short answer in every way: files are read, kernels and caches are warm, pacing has seen the pair."""
    warm = comparison.wanted.model_copy(update={"max_tokens": WARM_UP_TOKENS})
    for way in comparison.ways:
        if not comparison.stopped:
            warming(way)
            if await hold(engine, comparison, way):
                await run_once(engine, warm, Run(way, -1))


async def one_round(
    engine: Engine,
    comparison: Comparison,
    repetition: int,
    *,
    place: int = 0,
    changed: Callable[[Run], None] = lambda run: None,
) -> None:
    """Every way once, in the order of this repetition; ``place``: which of several prompts it is. Ends early, with
    ``stopped`` set, behind a run that was cancelled."""
    for way in alternating(comparison.ways, place, repetition):
        if comparison.stopped:
            return
        if not await hold(engine, comparison, way):
            return
        run = Run(way, repetition, number=next(comparison.numbers), started=datetime.now(UTC))
        comparison.runs.append(run)
        changed(run)
        neighbours = Neighbours()
        ours = [os.getpid(), *([engine.pid] if engine.pid else [])]
        memory = PeakMemory(engine.pid)

        def piece(run: Run, memory: PeakMemory = memory) -> None:
            memory.look()
            changed(run)

        started, before = time.monotonic(), neighbours.look(ours)
        await run_once(engine, comparison.wanted, run, piece)
        run.foreign, run.peak = foreign(before, neighbours.look(ours)), memory.peak()
        _note(comparison, run, engine.pair)
        comparison.stopped = comparison.stopped or not run.whole
        if run.whole:
            comparison.seconds.append(time.monotonic() - started)


def _note(comparison: Comparison, run: Run, pair: PairInfo | None) -> None:
    """A length that was cut, and memory that is not a way's own, are told once."""
    way, drafting = run.way, pair is not None and pair.draft is not None
    cut = [note for note in run.receipt.notes if note.startswith("drafts of ")] if run.receipt else []
    notes = [f"{way.label}: {note}" for note in cut]
    if run.peak is not None and drafting and way.mode not in ("draft", "auto"):
        notes.append(f"{OF_PEAKS} of {way.label} has the draft in it, which stays loaded.")
    comparison.notes += [note for note in notes if note not in comparison.notes]


async def hold(engine: Engine, comparison: Comparison, way: Way) -> bool:
    """Have the way's draft loaded; the target stays. False when the comparison is stopped, also by a load that was
    cancelled. Raises RunFailed, also where the draft is refused: a run with something else in its place would be called
    by a wrong name."""
    load = way.load(comparison.load)
    named = [other.draft for other in comparison.ways]
    if engine.pair is None or any(draft is not None for draft in named):
        async with aclosing(engine.load(load)) as events:
            async for event in events:
                if isinstance(event, Failed) and event.code is ErrorCode.CANCELLED:
                    comparison.stopped = True
                    return False
                if isinstance(event, Failed):
                    raise RunFailed(event.message)
    reason = engine.pair.available()[way.mode] if engine.pair else None
    if reason is not None:
        raise RunFailed(f"{way.label} is not possible here: {reason}.")
    refused = engine.pair.draft_refused if engine.pair and way.mode == "auto" else None
    if refused:
        comparison.refused.add(way)
    if refused and (note := f"{way.label}: draft refused: {refused}; lookup alone proposes") not in comparison.notes:
        comparison.notes.append(note)
    return not comparison.stopped


def together(comparison: Comparison, ways: Sequence[Way]) -> list[tuple[Run, ...]]:
    """The runs of ``ways`` that were made one after the other, a tuple for each repetition in which all are whole."""
    found = []
    for repetition in range(comparison.repetitions):
        runs = [next((run for run in comparison.of(way) if run.repetition == repetition), None) for way in ways]
        if all(run is not None for run in runs):
            found.append(tuple(run for run in runs if run is not None))
    return found
