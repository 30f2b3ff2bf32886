"""Requests on their way: what was asked of the engine process, and what it has said to each so far."""

from __future__ import annotations

import asyncio
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
    Load,
    Loaded,
    PairChanged,
    PairInfo,
    Replay,
    Replayed,
    SelfTest,
    SelfTested,
    encode,
)

log = logging.getLogger(__name__)

CANCEL_PATIENCE = 2.0
"""Seconds a cancel may stay unanswered before the process is killed."""

TERMINAL_EVENTS = (Loaded, Finished, Failed, Described, SelfTested, Replayed, Counted)

Request = Load | Generate | Describe | SelfTest | Replay | Count


class Exchanges:
    """Asks one engine :attr:`process`, started when it is needed. Requests are answered one after the other."""

    def __init__(
        self,
        log_path: Path,
        *,
        pair_changed: Callable[[PairInfo], None],
        gone: Callable[[], None],
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        cache: Path | None = None,
    ) -> None:
        """``pair_changed``: called with what the engine learned by itself; ``gone``: when the process has ended. The
        others are those of :class:`engine.client.EngineClient`."""
        self._pair_changed = pair_changed
        self._gone = gone
        self.process = EngineProcess(
            log_path, self._hear, self._ended, command=command, environment=environment, cache=cache
        )
        self._queues: dict[int, asyncio.Queue[Event]] = {}
        self._ids = itertools.count(1)

    def next_id(self) -> int:
        """What the next request is called; ids grow."""
        return next(self._ids)

    async def ask(self, request: Request) -> AsyncGenerator[Event, None]:
        """Everything that is said to ``request``, to its last event. Starts the process if it must. Closed early, it
        cancels the request and waits until the engine is idle again."""
        queue: asyncio.Queue[Event] = asyncio.Queue()
        done = False
        if (size := len(encode(request))) > MAX_LINE_BYTES:
            yield Failed(id=request.id, code=ErrorCode.PROMPT_TOO_LARGE, message=_too_long(size))
            return
        try:
            await self.process.start()
            self._queues[request.id] = queue
            await self.process.send(request)
            if not self.process.running:  # it died between start and send: the reader has spoken already
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
                message=f"The engine could not be started: {error}. Nothing was lost; details are in "
                f"{self.process.log_path}.",
            )
        finally:
            if not done:
                await asyncio.shield(self._abandon(request, queue))

    async def cancel(self) -> None:
        """Stop everything that is queued or running. Returns once the engine answered, or was killed.

        The cancelled iterators end by themselves: with Finished("cancelled"), or Failed(CANCELLED) for a load.
        """
        for request_id in list(self._queues):
            await self.process.send(Cancel(id=self.next_id(), target=request_id))
        deadline = asyncio.get_running_loop().time() + CANCEL_PATIENCE
        waiting = set(self._queues)
        while waiting & set(self._queues):
            if asyncio.get_running_loop().time() > deadline:
                await self._kill_unanswering()
                return
            await asyncio.sleep(0.01)

    def _hear(self, event: Event) -> None:
        if isinstance(event, PairChanged):
            self._pair_changed(event.pair)
        elif (queue := self._queues.get(event.id)) is not None:
            queue.put_nowait(event)

    def _ended(self) -> None:
        self._gone()
        for request_id, queue in list(self._queues.items()):
            queue.put_nowait(self._stopped(request_id))

    async def _abandon(self, request: Request, queue: asyncio.Queue[Event]) -> None:
        """The caller left early: cancel, and wait until the engine let go. A count is not waited for: it may stand
        behind a long answer, and it holds nothing."""
        try:
            await self.process.send(Cancel(id=self.next_id(), target=request.id))
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
        await self.process.kill()

    def _stopped(self, request_id: int) -> Failed:
        return Failed(
            id=request_id,
            code=ErrorCode.ENGINE_STOPPED,
            message=f"The engine stopped ({self.process.exit_words}). What arrived so far is kept; "
            "send again to start a new engine.",
            detail=self.process.log_tail(),
        )


def _too_long(size: int) -> str:
    return (
        f"The message with its conversation takes {size / 2**20:.0f} MiB, and the engine takes at most "
        f"{MAX_LINE_BYTES / 2**20:.0f}. Nothing was sent or lost: shorten the message or start a new chat."
    )
