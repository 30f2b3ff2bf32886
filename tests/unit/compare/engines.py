"""An engine of paper: how long each way takes and what it says is written down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.protocol import (
    Counted,
    ErrorCode,
    Failed,
    Finished,
    FinishReason,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    Message,
    PairInfo,
    Prefilling,
    Progress,
    Replay,
    Replayed,
    TextDelta,
)
from tests.app.tui.fake_client import pair_of, receipt, stats

Event = Loading | Loaded | Prefilling | TextDelta | Progress | Finished | Failed


@dataclass
class PaperEngine:
    """``seconds(settings, nth)``: what the whole answer takes; ``ids(settings)``: what it is."""

    seconds: Callable[[GenerateSettings, int], float] = lambda settings, nth: 1.0
    ids: Callable[[GenerateSettings], tuple[int, ...]] = lambda settings: (5, 6, 7)
    replies: list[Replayed | Failed] = field(default_factory=list)
    pair: PairInfo | None = None
    asked: list[GenerateSettings] = field(default_factory=list)
    loaded: list[LoadSettings] = field(default_factory=list)
    replayed: list[Replay] = field(default_factory=list)
    refused: str | None = None
    end: FinishReason = "length"
    notes: tuple[str, ...] = ()
    """In the receipts of answers that were drafted."""
    counted: Callable[[GenerateSettings], Mapping[str, object]] = lambda settings: {}
    """Figures of an answer in place of the usual ones: of what was drafted two proposals accepted, one rejected."""
    process: int | None = None
    failing: Callable[[GenerateSettings], Failed | None] = lambda settings: None
    """What an answer fails with."""
    uncounted: ErrorCode | None = None
    """Why nothing can be counted."""

    @property
    def pid(self) -> int | None:
        return self.process

    async def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        self.loaded.append(settings)
        found = pair_of(settings)
        if self.refused:
            found = found.model_copy(update={"draft": None, "draft_refused": self.refused})
        self.pair = found
        yield Loaded(id=1, pair=found)

    async def generate(self, settings: GenerateSettings) -> AsyncGenerator[Event, None]:
        nth = sum(other.speculation == settings.speculation for other in self.asked)
        self.asked.append(settings)
        if failed := self.failing(settings):
            yield failed
            return
        ids = self.ids(settings)
        yield TextDelta(id=1, text="hello", token_ids=ids, sources="t" * len(ids))
        drafts = settings.speculation != "off"
        planted: dict[str, Any] = {
            "accepted": 2 if drafts else 0,
            "rejected": 1 if drafts else 0,
            "total_seconds": self.seconds(settings, nth),
            "coverage": 2 / len(ids) if drafts else 0.0,
            **self.counted(settings),
        }
        figures = stats(len(ids), **planted)
        yield Finished(
            id=1,
            finish_reason=self.end,
            text="hello",
            token_ids=ids,
            sources="t" * len(ids),
            stats=figures,
            receipt=receipt("lookup" if drafts else "none", notes=self.notes if drafts else ()).model_copy(
                update={"mode": "exact"}
            ),
        )

    async def count(
        self, messages: Sequence[Message] = (), *, text: str | None = None, thinking: bool | None = None
    ) -> Counted | Failed:
        """A token a word."""
        if self.uncounted:
            return Failed(id=1, code=self.uncounted, message="It was not counted.")
        assert self.pair is not None, "nothing is loaded"
        return Counted(id=1, tokens=sum(len(said.content.split()) for said in messages), context=self.pair.context)

    wanted: LoadSettings | None = None
    closed: bool = False

    async def describe(self) -> Failed:
        return Failed(id=1, code=ErrorCode.INTERNAL, message="Paper has no build.")

    async def cancel(self) -> None:
        pass

    async def close(self) -> None:
        self.closed = True

    async def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]:
        self.replayed.append(wanted)
        yield self.replies.pop(0) if self.replies else Replayed(id=0, compared=len(wanted.token_ids))
