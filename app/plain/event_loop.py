"""An event loop in a thread of its own, beside the main thread, where lines are read and Ctrl+C belongs."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")

GRACE: Final = 2.7
"""Seconds in which the end must be reached."""
LISTEN_SECONDS: Final = 0.2
"""How often a wait that Ctrl+C cannot break (Windows) looks up."""


class Loop:
    """An event loop in a thread of its own, seen from the main thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: list[concurrent.futures.Future[Any]] = []

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Begin ``work`` beside everything else."""
        self._running = [future for future in self._running if not future.done()]
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._running.append(future)
        return future

    def finish(self, work: Coroutine[Any, Any, T], *, interrupted: Callable[[int], None] | None = None) -> T:
        """What ``work`` returns or raises. A Ctrl+C meanwhile calls ``interrupted`` with how many there were."""
        future = self.start(work)
        times = 0
        while True:
            try:
                concurrent.futures.wait([future], timeout=LISTEN_SECONDS)
                if future.done():
                    return future.result()
            except KeyboardInterrupt:
                times += 1
                if interrupted is not None:
                    interrupted(times)

    def soon(self, do: Callable[[], object]) -> None:
        """Call ``do`` in the loop."""
        self._loop.call_soon_threadsafe(do)

    def cancel_all(self, *, but: concurrent.futures.Future[Any]) -> None:
        """Give up what was begun and waits."""
        for future in self._running:
            if future is not but:
                future.cancel()


@contextlib.contextmanager
def event_loop() -> Iterator[Loop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="chat", daemon=True)
    thread.start()
    try:
        yield Loop(loop)
    finally:
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result(GRACE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(GRACE)
        if not thread.is_alive():
            loop.close()


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
