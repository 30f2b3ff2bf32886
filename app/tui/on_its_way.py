"""What was sent with enter, until it is taken out of the composer or refused: the keys behind that enter wait."""

from __future__ import annotations

import asyncio
from typing import Final

PATIENCE_SECONDS: Final = 3.0
"""For a screen that does not decide: keys are never held for good."""


class OnItsWay:
    """One text. Whoever takes or refuses it calls :meth:`decide`."""

    def __init__(self) -> None:
        self._decided = asyncio.Event()

    def decide(self) -> None:
        """It was taken or refused; a second time changes nothing."""
        self._decided.set()

    async def wait(self) -> bool:
        """Until that is so; whether there was anything to wait for."""
        if self._decided.is_set():
            return False
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._decided.wait()
        except TimeoutError:
            self.decide()
        return True
