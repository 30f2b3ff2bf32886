"""Ctrl+C in a command that lets the engine work: the first one stops it and keeps what is there, the second waits for
nobody."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator

from app.commands.errors import CANCELLED
from engine.client import EngineClient

CANCEL_AGAIN = 0.05
"""Seconds between two cancels: the first one may come before the engine has the request."""


@contextlib.contextmanager
def interrupts(
    engine: EngineClient, stop: Callable[[], None] = lambda: None, leave: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Within, a Ctrl+C calls ``stop`` and cancels what the engine does until the block is left; another one calls
    ``leave`` and ends this process, which closes the engine's stdin and so ends the engine."""
    cancelling: asyncio.Task[None] | None = None

    async def cancel() -> None:
        while True:
            await engine.cancel()
            await asyncio.sleep(CANCEL_AGAIN)

    def interrupted() -> None:
        nonlocal cancelling
        if cancelling is not None:
            try:
                leave()
            finally:
                os._exit(CANCELLED)
        stop()
        cancelling = asyncio.ensure_future(cancel())

    try:
        with _handler(interrupted):
            yield
    finally:
        if cancelling is not None:
            cancelling.cancel()


@contextlib.contextmanager
def _handler(handle: Callable[[], None]) -> Iterator[None]:
    """Ctrl+C calls ``handle`` inside the event loop."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, handle)
    except NotImplementedError:  # Windows
        before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(handle))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
    else:
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
