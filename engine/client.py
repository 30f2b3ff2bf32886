"""EngineClient: starts, watches and restarts the engine process; the only door to it for TUI and command line.

The process holds the model; this side holds what must survive the process: which pair is wanted, and the text that
has arrived so far. Nothing here imports llama_cpp, so a crash in native code can only take the other process down.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from engine.exchanges import Exchanges, Request
from engine.protocol import (
    Count,
    Counted,
    Describe,
    Described,
    ErrorCode,
    Failed,
    Finished,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    Loading,
    LoadingWhat,
    LoadSettings,
    Message,
    PairInfo,
    Prefilling,
    Progress,
    Replay,
    Replayed,
    SelfTest,
    SelfTested,
    Started,
    TextDelta,
)
from engine.stats import Stats, until_now

Last = TypeVar("Last", Described, SelfTested, Counted)


class EngineClient:
    """One engine process and the pair it should hold.

    ``generate`` starts the process and loads the wanted pair when that is needed, so a caller never has to repair
    anything after a crash: the next request simply works. Requests are answered one after the other.
    """

    def __init__(
        self,
        log_path: Path,
        *,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        cache: Path | None = None,
    ) -> None:
        """``log_path``: where the process writes its log. ``cache``: where it keeps what it learned about a pair."""
        self.log_path = log_path
        self.pair: PairInfo | None = None
        """What the running process holds; None before the first load and after a crash."""
        self.wanted: LoadSettings | None = None
        self.on_pair_change: Callable[[PairInfo], None] = lambda pair: None
        """Called when the engine learned something about the loaded pair by itself (the self-test's badge)."""
        self._exchanges = Exchanges(
            log_path,
            pair_changed=self._changed,
            gone=self._gone,
            command=command,
            environment=environment,
            cache=cache,
        )
        self._engine = self._exchanges.process
        self._bad_draft = ""
        """Why the wanted draft is left out from now on: the engine stopped when it was loaded or used."""
        self._closing = False
        """Somebody has ended the process: no model is to blame."""

    async def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        """Hold the pair of ``settings`` from now on. Yields progress, then one Loaded or Failed.

        A target that is loaded already stays loaded when only the draft changes.
        """
        self.wanted, self._bad_draft, self._closing = settings, "", False
        async with contextlib.aclosing(self._load(settings)) as events:
            async for event in events:
                yield event

    async def _load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        """Load ``settings``, but for a draft that took the engine down; one that does so now is left out at once."""
        if settings.draft is not None and self._bad_draft:
            settings = settings.model_copy(update={"draft": None, "draft_refused": self._bad_draft})
        loading: LoadingWhat | None = None
        request = Load(id=self._exchanges.next_id(), settings=settings)
        async with contextlib.aclosing(self._exchanges.ask(request)) as events:
            async for event in events:
                if isinstance(event, Loaded):
                    self.pair = event.pair
                elif isinstance(event, Loading):
                    loading = event.what
                elif isinstance(event, Failed) and event.code is ErrorCode.ENGINE_STOPPED and self._closing:
                    event = Failed(id=request.id, code=ErrorCode.CANCELLED, message="Loading was stopped.")
                elif isinstance(event, Failed) and event.code is ErrorCode.ENGINE_STOPPED and loading == "draft":
                    self._bad_draft = f"the engine stopped while loading it ({self._engine.exit_words})"
                    break
                elif isinstance(event, Failed) and event.code is ErrorCode.ENGINE_STOPPED and loading == "target":
                    event = event.model_copy(update={"message": self._bad_target(settings.target.path)})
                if isinstance(event, (Loading, Loaded, Failed)):
                    yield event
        if settings.draft is not None and self._bad_draft:
            async with contextlib.aclosing(self._load(settings)) as again:
                async for event in again:
                    yield event

    async def generate(
        self, settings: GenerateSettings
    ) -> AsyncGenerator[Loading | Loaded | Started | Prefilling | TextDelta | Progress | Finished | Failed, None]:
        """Make one answer. Ends with exactly one Finished or Failed; loads the wanted pair first if it must.

        Closing the iterator early cancels the request and waits until the engine is idle again.
        """
        load_seconds, self._closing = 0.0, False
        if self.pair is None or not self.running:
            if self.wanted is None:
                yield Failed(id=0, code=ErrorCode.NO_MODEL, message="No model is chosen. Choose one and send again.")
                return
            async with contextlib.aclosing(self._load(self.wanted)) as loading:
                async for load_event in loading:
                    yield load_event
                    if isinstance(load_event, Failed):
                        return
                    if isinstance(load_event, Loaded):
                        load_seconds = load_event.pair.load_seconds
        request = Generate(id=self._exchanges.next_id(), settings=settings)
        drafts = self.pair is not None and self.pair.draft is not None and settings.speculation in ("draft", "auto")
        text: list[str] = []
        token_ids: list[int] = []
        sources: list[str] = []
        stats = Stats()
        async with contextlib.aclosing(self._exchanges.ask(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                    token_ids.extend(event.token_ids)
                    sources.append(event.sources)
                elif isinstance(event, Progress):
                    stats = event.stats
                elif isinstance(event, Failed) and event.code is ErrorCode.CANCELLED:
                    yield Finished(
                        id=request.id,
                        finish_reason="cancelled",
                        text="".join(text),
                        token_ids=tuple(token_ids),
                        sources="".join(sources),
                        stats=until_now(stats, "".join(sources)),
                        receipt=None,
                    )
                    return
                if isinstance(event, Failed) and event.code is ErrorCode.ENGINE_STOPPED and drafts:
                    self._bad_draft = f"the engine stopped while it was in use ({self._engine.exit_words})"
                if isinstance(event, Finished) and load_seconds:
                    stats = event.stats.model_copy(update={"load_seconds": load_seconds})
                    event = event.model_copy(update={"stats": stats})
                if isinstance(event, (Started, Prefilling, TextDelta, Progress, Finished, Failed)):
                    yield event

    async def describe(self) -> Described | Failed:
        """Build, devices, threads and exact settings of the engine."""
        return await self._ask(Describe(id=self._exchanges.next_id()), Described)

    async def self_test(self) -> SelfTested | Failed:
        """Find out now how exact the wanted pair's target is on this machine; loads it first if it must."""
        if (self.pair is None or not self.running) and self.wanted is not None:
            async with contextlib.aclosing(self.load(self.wanted)) as loading:
                async for load_event in loading:
                    if isinstance(load_event, Failed):
                        return load_event
        return await self._ask(SelfTest(id=self._exchanges.next_id()), SelfTested)

    async def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]:
        """Make a kept answer again on the wanted pair's target. Its ``id`` is chosen here. Ends with one Replayed or
        Failed; loads the pair first if it must."""
        if (self.pair is None or not self.running) and self.wanted is not None:
            async with contextlib.aclosing(self.load(self.wanted)) as loading:
                async for load_event in loading:
                    yield load_event
                    if isinstance(load_event, Failed):
                        return
        request = wanted.model_copy(update={"id": self._exchanges.next_id()})
        async with contextlib.aclosing(self._exchanges.ask(request)) as events:
            async for event in events:
                if isinstance(event, (Prefilling, Replayed, Failed)):
                    yield event

    async def count(
        self, messages: Sequence[Message] = (), *, text: str | None = None, thinking: bool | None = None
    ) -> Counted | Failed:
        """How many tokens ``text`` takes, or else the prompt that ``messages`` make, before anything is sent.

        Waits behind a load or an answer that is being made, and a cancel stops it, too (ask again). Loads and starts
        nothing: without a running engine and a model in it the answer is Failed(NO_MODEL).
        """
        if not self.running:
            return Failed(id=0, code=ErrorCode.NO_MODEL, message="No model is loaded, so tokens cannot be counted.")
        request = Count(id=self._exchanges.next_id(), messages=tuple(messages), text=text, thinking=thinking)
        return await self._ask(request, Counted)

    async def _ask(self, request: Request, kind: type[Last]) -> Last | Failed:
        """The last event of an exchange that tells nothing on its way."""
        async with contextlib.aclosing(self._exchanges.ask(request)) as events:
            async for event in events:
                if isinstance(event, (kind, Failed)):
                    return event
        raise RuntimeError("an exchange ended without its last event")

    async def cancel(self) -> None:
        """Stop everything that is queued or running. Returns once the engine answered, or was killed.

        The cancelled iterators end by themselves: with Finished("cancelled"), or Failed(CANCELLED) for a load.
        """
        await self._exchanges.cancel()

    @property
    def running(self) -> bool:
        """Whether the engine process is alive."""
        return self._engine.running

    @property
    def pid(self) -> int | None:
        """Process id of the engine, None when it is not running."""
        return self._engine.pid

    async def start(self) -> None:
        """Start the process if it is not running; a failure shows as Failed in the next request."""
        await self._engine.start()

    async def close(self) -> None:
        """End the process: ask by closing its stdin, then insist. What it was loading ends with Failed(CANCELLED)."""
        self._closing = True
        await self._engine.close()

    def log_tail(self) -> str:
        """The last lines the present (or last) process wrote to its log."""
        return self._engine.log_tail()

    def _bad_target(self, path: str) -> str:
        """The sentence for a model that took the engine down when it was loaded: to send again would do so again."""
        return (
            f"{Path(path).name} could not be loaded: the engine stopped while loading it ({self._engine.exit_words}). "
            "Nothing was being answered, and nothing was lost. Choose another model, or get this one again."
        )

    def _changed(self, pair: PairInfo) -> None:
        self.pair = pair
        self.on_pair_change(pair)

    def _gone(self) -> None:
        self.pair = None
