"""What the chat needs from the engine's side, so that tests can put a scripted one in its place."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from engine.protocol import (
    Described,
    Failed,
    Finished,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    PairInfo,
    Prefilling,
    Progress,
    TextDelta,
)

LoadEvent = Loading | Loaded | Failed
AnswerEvent = Loading | Loaded | Prefilling | TextDelta | Progress | Finished | Failed


class Engine(Protocol):
    """:class:`engine.client.EngineClient`, or something that behaves like it."""

    pair: PairInfo | None
    on_pair_change: Callable[[PairInfo], None]

    @property
    def running(self) -> bool: ...

    @property
    def pid(self) -> int | None: ...

    async def start(self) -> None: ...

    def load(self, settings: LoadSettings) -> AsyncGenerator[LoadEvent, None]: ...

    def generate(self, settings: GenerateSettings) -> AsyncGenerator[AnswerEvent, None]: ...

    async def cancel(self) -> None: ...

    async def describe(self) -> Described | Failed: ...

    async def close(self) -> None: ...
