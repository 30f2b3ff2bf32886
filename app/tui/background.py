"""Work that may take a while: beside the event loop, for a disk that is slow, and beside the screen that wants it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from textual.dom import DOMNode

T = TypeVar("T")


async def aside(work: Callable[..., T], *arguments: Any) -> T:
    """What ``work(*arguments)`` returns or raises, done in a thread of its own.

    Unlike asyncio's executor, nobody waits for this thread when the program ends.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if outcome.done():  # whoever asked has gone on
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = work(*arguments)
        except Exception as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name=getattr(work, "__name__", "aside"), daemon=True).start()
    return await outcome


def beside(screen: DOMNode, group: str, work: Callable[..., Awaitable[None]], *what: object) -> None:
    """Do ``work`` beside the screen; the last one of its group counts."""
    # Not the coroutine itself: where the next one comes at once, nobody would ever await it.
    task: Any = partial(work, *what)
    screen.run_worker(task, group=group, exclusive=True, exit_on_error=False)
