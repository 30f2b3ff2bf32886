"""When the answer that is being made is drawn: one frame at a time, as often as the machine can afford."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.tui import motion
from app.tui.frame_budget import TICK_SECONDS, FrameBudget
from app.tui.widgets.header import Header

if TYPE_CHECKING:
    from textual.timer import Timer

    from app.tui.screens.chat import ChatScreen


class Frames:
    """One for the chat screen."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self.timer: Timer | None = None
        self._due = False
        self._budget = FrameBudget()

    def begin(self) -> None:
        """The screen is there."""
        every = motion.every(self._screen.app, TICK_SECONDS)
        self.timer = self._screen.set_interval(every, self._next, pause=True)

    def answering(self, on: bool) -> None:
        """Whether an answer is being made."""
        if self.timer is not None:
            if on:
                self.timer.resume()
            else:
                self.timer.pause()

    def _next(self) -> None:
        """A timer has a task of its own; drawing belongs into the screen's, or it would meet the answer's end."""
        if not self._due and self._budget.allows():
            self._due = True
            self._screen.call_next(self._draw)

    async def _draw(self) -> None:
        self._due = False
        dialogue = self._screen.dialogue
        await dialogue.draw()
        if dialogue.live is not None and dialogue.live.context_used is not None:
            self._screen.query_one(Header).used = dialogue.live.context_used
