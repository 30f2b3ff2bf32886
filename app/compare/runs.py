"""One run of one way: the whole answer, its figures, and when its tokens came."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Protocol

from app.compare.memory import Peak
from app.compare.neighbours import BUSY
from app.compare.ways import Way
from engine.protocol import (
    Failed,
    Finished,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    PairInfo,
    Prefilling,
    Progress,
    Receipt,
    Replay,
    Replayed,
    Started,
    TextDelta,
)
from engine.stats import Stats


class Engine(Protocol):
    """What a comparison needs of :class:`engine.client.EngineClient`."""

    pair: PairInfo | None

    @property
    def pid(self) -> int | None: ...

    def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]: ...

    def generate(
        self, settings: GenerateSettings
    ) -> AsyncGenerator[Loading | Loaded | Started | Prefilling | TextDelta | Progress | Finished | Failed, None]: ...

    def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]: ...


class RunFailed(Exception):
    """The engine could not make the answer; ``str()`` is its sentence."""


@dataclass(eq=False)
class Run:
    """``curve``: (seconds since the request, tokens so far), at most fifty points a second."""

    way: Way
    repetition: int
    text: str = ""
    token_ids: tuple[int, ...] = ()
    stats: Stats = field(default_factory=Stats)
    drafter: str = ""
    finish_reason: str = ""
    receipt: Receipt | None = None
    curve: list[tuple[float, int]] = field(default_factory=list)
    wall_seconds: float = 0.0
    """By a clock outside the engine, the way through both pipes included."""
    foreign: float | None = None
    """Cores' worth of work that other processes did meanwhile; None where unknown."""
    number: int = 0
    """Its place in the order in which all runs were made, from 1; 0: a warm-up."""
    started: datetime | None = None
    """UTC."""
    peak: Peak | None = None
    """The most memory that the engine had meanwhile; None where unknown."""

    @property
    def busy(self) -> bool:
        """Whether another process used the machine meanwhile."""
        return self.foreign is not None and self.foreign > BUSY

    def token_at(self, place: int) -> int | None:
        """None behind its end."""
        return self.token_ids[place] if place < len(self.token_ids) else None

    @property
    def whole(self) -> bool:
        """Whether the answer came to its own end, so that its time may be held against others."""
        return self.finish_reason in ("stop", "length")


async def run_once(
    engine: Engine, wanted: GenerateSettings, run: Run, changed: Callable[[Run], None] = lambda run: None
) -> Run:
    """Make the answer, filling ``run`` while it comes. Raises RunFailed; a cancel ends it as ``cancelled``."""
    started = monotonic()
    tokens = 0
    async with aclosing(engine.generate(run.way.settings(wanted))) as events:
        async for event in events:
            match event:
                case TextDelta():
                    tokens += len(event.token_ids)
                    run.text += event.text
                    run.curve.append((monotonic() - started, tokens))
                case Progress():
                    run.stats, run.drafter = event.stats, event.drafter
                case Finished():
                    run.wall_seconds = monotonic() - started
                    run.text, run.token_ids, run.stats = event.text, event.token_ids, event.stats
                    run.finish_reason, run.receipt = event.finish_reason, event.receipt
                    run.drafter = event.receipt.drafter if event.receipt else run.drafter
                case Failed():
                    raise RunFailed(event.message)
                case _:
                    continue
            changed(run)
    return run
