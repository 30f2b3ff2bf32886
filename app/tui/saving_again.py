"""What could not be saved is tried again every few seconds: there may be room by now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from app.tui.background import aside, beside

if TYPE_CHECKING:
    from textual.timer import Timer

    from app.tui.screens.chat import ChatScreen

SECONDS: Final = 5.0


class SavingAgain:
    """For the store of ``screen``."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._timer: Timer | None = None

    def soon(self) -> None:
        """Something is not saved."""
        if self._timer is None:
            self._timer = self._screen.set_timer(SECONDS, partial(beside, self._screen, "save again", self._try))

    async def _try(self) -> None:
        try:
            await aside(self._screen.store.save_again)
        finally:
            self._timer = None
            self._screen.show_trouble()
