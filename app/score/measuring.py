"""Measuring what the scorecard is made of: the same for the command and the screen."""

from __future__ import annotations

import secrets
import statistics
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from app.chats.proof import left_out_words
from app.compare import fitting
from app.compare.bench import Bench, run_bench
from app.compare.memory import memory_of
from app.compare.runs import Run, RunFailed
from app.compare.suite import Task, bundled, choose
from app.compare.ways import Way
from app.replay.kept import KeptAnswer, last_records
from app.score.card import Measured
from engine.files.fingerprint import fingerprint
from engine.protocol import ErrorCode, Failed, GenerateSettings, LoadSettings, SelfTested

TOKENS: Final = 64
RUNS: Final = 2
OWN_CHATS: Final = 8
"""The user's latest requests that are replayed, where they allow it."""
LOOKED_AT: Final = 200
"""The newest answers among which those of this model are looked for."""


class Engine(fitting.Engine, Protocol):
    """What the score needs of :class:`engine.client.EngineClient`."""

    async def self_test(self) -> SelfTested | Failed: ...


class Stopped(Exception):
    """Somebody stopped it before everything was measured."""


def bundled_tasks() -> list[Task]:
    """One prompt of each kind."""
    return choose(bundled(), [], 1)


class OwnTasks(NamedTuple):
    """``left_out``: a sentence about records among them that cannot be read; empty where all can."""

    tasks: list[Task]
    left_out: str


def own_tasks(store: Path, target: Path) -> OwnTasks:
    """The latest requests that this very file has answered; their text stays on this machine. OSError where the file
    cannot be read, UnreadableStoreError where the chats cannot."""
    mark = fingerprint(target)
    records = last_records(store, most=LOOKED_AT)
    answers = [record for record in records if isinstance(record, KeptAnswer)]
    own = [answer for answer in answers if answer.receipt.target.fingerprint == mark and answer.receipt.prompt_ids]
    return OwnTasks(
        [Task(str(answer.id), "own chats", (), answer.receipt.prompt_ids) for answer in own[:OWN_CHATS]],
        left_out_words(len(records) - len(answers), "your own requests"),
    )


def scoring(tasks: Sequence[Task], wanted: GenerateSettings, load: LoadSettings, repetitions: int = RUNS) -> Bench:
    """Plainly and in every way that the pair allows. ``wanted``: samplers and limits; the seed is drawn where there is
    none."""
    ways = [Way("off"), Way("lookup"), Way("auto")]
    if load.draft is not None:
        ways.insert(2, Way("draft"))
    changes = {
        "max_tokens": wanted.max_tokens or TOKENS,
        "seed": secrets.randbelow(2**31) if wanted.seed is None else wanted.seed,
    }
    return Bench([*tasks], tuple(ways), wanted.model_copy(update=changes), load, repetitions)


async def measure(
    engine: Engine,
    bench: Bench,
    *,
    own_chats: bool,
    testing: Callable[[], None] = lambda: None,
    changed: Callable[[Task, Run], None] = lambda task, run: None,
    warming: Callable[[Way], None] = lambda way: None,
) -> Measured:
    """Test the passes, then run the bench. ``testing``, ``changed`` and ``warming`` hear what is being done. Raises
    RunFailed, and Stopped when ``bench.stopped`` was set (cancel the engine's request as well)."""
    async with aclosing(engine.load(bench.load)) as events:
        async for event in events:
            if isinstance(event, Failed):
                raise Stopped if event.code is ErrorCode.CANCELLED else RunFailed(event.message)
    if bench.stopped:
        raise Stopped
    testing()
    tested = await engine.self_test()
    if bench.stopped:
        raise Stopped
    await run_bench(engine, bench, changed=changed, warming=warming)
    pair = engine.pair
    if bench.stopped:
        raise Stopped
    if pair is None:
        raise RunFailed("The engine ended before everything was measured. Try again.")
    shares = [run.foreign for one in bench.comparisons for run in one.runs if run.foreign is not None]
    return Measured(
        pair,
        tested.result if isinstance(tested, SelfTested) else None,
        bench,
        _draft_memory(bench.load, pair.context),
        statistics.median(shares) if shares else None,
        own_chats=own_chats,
    )


def stop(bench: Bench) -> None:
    """Nothing new begins; what runs has to be cancelled."""
    bench.stopped = True
    for comparison in bench.comparisons:
        comparison.stopped = True


def _draft_memory(load: LoadSettings, context: int) -> int | None:
    alone, both = memory_of(Way("off"), load, context), memory_of(Way("auto"), load, context)
    return both - alone if alone is not None and both is not None and load.draft else None
