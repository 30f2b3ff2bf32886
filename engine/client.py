"""EngineClient: starts, watches and restarts the engine process; the only door to it for TUI and command line.

The process holds the model; this side holds what must survive the process: which pair is wanted, and the text that
has arrived so far. Nothing here imports llama_cpp, so a crash in native code can only take the other process down.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path

from engine.process import EngineProcess
from engine.protocol import (
    MAX_LINE_BYTES,
    Cancel,
    Count,
    Counted,
    Describe,
    Described,
    ErrorCode,
    Event,
    Failed,
    Finished,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    Loading,
    LoadSettings,
    Message,
    PairChanged,
    PairInfo,
    Prefilling,
    Progress,
    Replay,
    Replayed,
    SelfTest,
    SelfTested,
    Started,
    TextDelta,
    encode,
)
from engine.stats import Stats, until_now

log = logging.getLogger(__name__)

CANCEL_PATIENCE = 2.0
"""Seconds a cancel may stay unanswered before the process is killed."""

TERMINAL_EVENTS = (Loaded, Finished, Failed, Described, SelfTested, Replayed, Counted)


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
        self._engine = EngineProcess(
            log_path, self._hear, self._ended, command=command, environment=environment, cache=cache
        )
        self._bad_draft = ""
        """Why the wanted draft is left out from now on: the engine stopped when it was loaded or used."""
        self._queues: dict[int, asyncio.Queue[Event]] = {}
        self._ids = itertools.count(1)

    # ------------------------------------------------------------------------------------------------- requests

    async def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        """Hold the pair of ``settings`` from now on. Yields progress, then one Loaded or Failed.

        A target that is loaded already stays loaded when only the draft changes.
        """
        self.wanted, self._bad_draft = settings, ""
        async with contextlib.aclosing(self._load(settings)) as events:
            async for event in events:
                yield event

    async def _load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        """Load ``settings``, but for a draft that took the engine down; one that does so now is left out at once."""
        if settings.draft is not None and self._bad_draft:
            settings = settings.model_copy(update={"draft": None, "draft_refused": self._bad_draft})
        loading_draft = False
        request = Load(id=next(self._ids), settings=settings)
        async with contextlib.aclosing(self._exchange(request)) as events:
            async for event in events:
                if isinstance(event, Loaded):
                    self.pair = event.pair
                elif isinstance(event, Loading):
                    loading_draft = event.what == "draft"
                elif isinstance(event, Failed) and event.code is ErrorCode.ENGINE_STOPPED and loading_draft:
                    self._bad_draft = f"the engine stopped while loading it ({self._engine.exit_words})"
                    break
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
        load_seconds = 0.0
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
        request = Generate(id=next(self._ids), settings=settings)
        drafts = self.pair is not None and self.pair.draft is not None and settings.speculation in ("draft", "auto")
        text: list[str] = []
        token_ids: list[int] = []
        sources: list[str] = []
        stats = Stats()
        async with contextlib.aclosing(self._exchange(request)) as events:
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
        async with contextlib.aclosing(self._exchange(Describe(id=next(self._ids)))) as events:
            async for event in events:
                if isinstance(event, (Described, Failed)):
                    return event
        raise RuntimeError("an exchange ended without its last event")

    async def self_test(self) -> SelfTested | Failed:
        """Find out now how exact the wanted pair's target is on this machine; loads it first if it must."""
        if (self.pair is None or not self.running) and self.wanted is not None:
            async with contextlib.aclosing(self.load(self.wanted)) as loading:
                async for load_event in loading:
                    if isinstance(load_event, Failed):
                        return load_event
        async with contextlib.aclosing(self._exchange(SelfTest(id=next(self._ids)))) as events:
            async for event in events:
                if isinstance(event, (SelfTested, Failed)):
                    return event
        raise RuntimeError("an exchange ended without its last event")

    async def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]:
        """Make a kept answer again on the wanted pair's target. Its ``id`` is chosen here. Ends with one Replayed or
        Failed; loads the pair first if it must."""
        if (self.pair is None or not self.running) and self.wanted is not None:
            async with contextlib.aclosing(self.load(self.wanted)) as loading:
                async for load_event in loading:
                    yield load_event
                    if isinstance(load_event, Failed):
                        return
        request = wanted.model_copy(update={"id": next(self._ids)})
        async with contextlib.aclosing(self._exchange(request)) as events:
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
        request = Count(id=next(self._ids), messages=tuple(messages), text=text, thinking=thinking)
        async with contextlib.aclosing(self._exchange(request)) as events:
            async for event in events:
                if isinstance(event, (Counted, Failed)):
                    return event
        raise RuntimeError("an exchange ended without its last event")

    async def cancel(self) -> None:
        """Stop everything that is queued or running. Returns once the engine answered, or was killed.

        The cancelled iterators end by themselves: with Finished("cancelled"), or Failed(CANCELLED) for a load.
        """
        for request_id in list(self._queues):
            await self._engine.send(Cancel(id=next(self._ids), target=request_id))
        deadline = asyncio.get_running_loop().time() + CANCEL_PATIENCE
        waiting = set(self._queues)
        while waiting & set(self._queues):
            if asyncio.get_running_loop().time() > deadline:
                await self._kill_unanswering()
                return
            await asyncio.sleep(0.01)

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
        """End the process: ask by closing its stdin, then insist."""
        await self._engine.close()

    def log_tail(self) -> str:
        """The last lines the present (or last) process wrote to its log."""
        return self._engine.log_tail()

    # ------------------------------------------------------------------------------------------------- plumbing

    def _hear(self, event: Event) -> None:
        if isinstance(event, PairChanged):
            self.pair = event.pair
            self.on_pair_change(event.pair)
        elif (queue := self._queues.get(event.id)) is not None:
            queue.put_nowait(event)

    def _ended(self) -> None:
        self.pair = None
        for request_id, queue in list(self._queues.items()):
            queue.put_nowait(self._stopped(request_id))

    async def _exchange(
        self, request: Load | Generate | Describe | SelfTest | Replay | Count
    ) -> AsyncGenerator[Event, None]:
        queue: asyncio.Queue[Event] = asyncio.Queue()
        done = False
        if (size := len(encode(request))) > MAX_LINE_BYTES:
            yield Failed(id=request.id, code=ErrorCode.PROMPT_TOO_LARGE, message=_too_long(size))
            return
        try:
            await self.start()
            self._queues[request.id] = queue
            await self._engine.send(request)
            if not self.running:  # it died between start and send: the reader has spoken already
                queue.put_nowait(self._stopped(request.id))
            while not done:
                event = await queue.get()
                if isinstance(event, TERMINAL_EVENTS):
                    done = True
                    self._queues.pop(request.id, None)
                yield event
        except OSError as error:
            self._queues.pop(request.id, None)
            done = True
            yield Failed(
                id=request.id,
                code=ErrorCode.ENGINE_STOPPED,
                message=f"The engine could not be started: {error}. Nothing was lost; details are in {self.log_path}.",
            )
        finally:
            if not done:
                await asyncio.shield(self._abandon(request, queue))

    async def _abandon(
        self, request: Load | Generate | Describe | SelfTest | Replay | Count, queue: asyncio.Queue[Event]
    ) -> None:
        """The caller left early: cancel, and wait until the engine let go. A count is not waited for: it may stand
        behind a long answer, and it holds nothing."""
        try:
            await self._engine.send(Cancel(id=next(self._ids), target=request.id))
            if isinstance(request, Count):
                return
            async with asyncio.timeout(CANCEL_PATIENCE):
                while not isinstance(await queue.get(), TERMINAL_EVENTS):
                    pass
        except TimeoutError:
            await self._kill_unanswering()
        finally:
            self._queues.pop(request.id, None)

    async def _kill_unanswering(self) -> None:
        log.warning("a cancel was not answered within %.0f s; the engine is restarted", CANCEL_PATIENCE)
        for request_id, queue in list(self._queues.items()):
            queue.put_nowait(
                Failed(
                    id=request_id,
                    code=ErrorCode.CANCELLED,
                    message="Stopped. The engine did not answer and was restarted; the text so far is kept.",
                )
            )
        await self._engine.kill()

    def _stopped(self, request_id: int) -> Failed:
        return Failed(
            id=request_id,
            code=ErrorCode.ENGINE_STOPPED,
            message=f"The engine stopped ({self._engine.exit_words}). What arrived so far is kept; "
            "send again to start a new engine.",
            detail=self.log_tail(),
        )


def _too_long(size: int) -> str:
    return (
        f"The message with its conversation takes {size / 2**20:.0f} MiB, and the engine takes at most "
        f"{MAX_LINE_BYTES / 2**20:.0f}. Nothing was sent or lost: shorten the message or start a new chat."
    )
