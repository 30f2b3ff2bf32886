"""Work that may take a while, beside the event loop: a disk that is slow, a network that does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

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
