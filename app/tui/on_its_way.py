"""What was sent with enter, until it is taken out of the composer or refused: the keys behind that enter wait."""

from __future__ import annotations

import asyncio
from typing import Final

PATIENCE_SECONDS: Final = 3.0
"""For a screen that does not decide: keys are never held for good."""


class OnItsWay:
    """One text. Whoever takes or refuses it calls :meth:`decide`, and :meth:`end` when what comes of it has begun."""

    def __init__(self) -> None:
        self._decided, self._ended = asyncio.Event(), asyncio.Event()

    def decide(self) -> None:
        """It was taken or refused; a second time changes nothing."""
        self._decided.set()

    def end(self) -> None:
        """It is out, or back where it was: there is something to stop now, or nothing."""
        self.decide()
        self._ended.set()

    async def wait(self) -> bool:
        """Until it is decided; whether there was anything to wait for."""
        return await self._wait(self._decided)

    async def wait_for_end(self) -> bool:
        """Until it has ended; whether there was anything to wait for."""
        return await self._wait(self._ended)

    async def _wait(self, for_: asyncio.Event) -> bool:
        if for_.is_set():
            return False
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await for_.wait()
        except TimeoutError:
            self.decide()
            for_.set()
        return True
