"""What the chat needs from the engine's side, so that tests can put a scripted one in its place."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

from engine.protocol import (
    Counted,
    Described,
    Failed,
    Finished,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    Message,
    ModelFile,
    PairInfo,
    Prefilling,
    Progress,
    Replay,
    Replayed,
    SelfTested,
    Started,
    TextDelta,
)

LoadEvent = Loading | Loaded | Failed
AnswerEvent = Loading | Loaded | Started | Prefilling | TextDelta | Progress | Finished | Failed


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

    def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]: ...

    async def count(
        self, messages: Sequence[Message] = (), *, text: str | None = None, thinking: bool | None = None
    ) -> Counted | Failed: ...

    async def self_test(self) -> SelfTested | Failed: ...

    async def cancel(self) -> None: ...

    async def describe(self) -> Described | Failed: ...

    async def close(self) -> None: ...


PairRequest = Callable[[str, str, int | None], LoadSettings]
"""From the paths of a target and a draft (empty: none) and a context to what the engine is asked to load."""


def plain_request(target: str, draft: str, context: int | None) -> LoadSettings:
    """A :data:`PairRequest` that leaves the rest to the engine."""
    return LoadSettings(target=ModelFile(path=target), draft=ModelFile(path=draft) if draft else None, context=context)
