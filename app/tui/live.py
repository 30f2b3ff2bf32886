"""The answer being made, from the engine's events to the screen and the store, in measured steps."""

from __future__ import annotations

import time
from typing import Final

from app.tui import motion
from app.tui.answer import Answer
from app.tui.conversation import OpenChat, Turn
from app.tui.kept_answer import Beside as Beside
from app.tui.kept_answer import Keep, KeptAnswer
from app.tui.widgets.turns import AnswerTurn, UserTurn

FIGURES_SECONDS: Final = 0.2
CALM_FIGURES_SECONDS: Final = 1.0
"""The same where motion is reduced."""


class LiveAnswer(KeptAnswer):
    """One question, its answer, and the two turns on screen that show them."""

    def __init__(
        self, answer: Answer, chat: OpenChat, question: Turn, speaker: str, beside: Beside | None = None
    ) -> None:
        super().__init__(answer, chat, question, beside)
        self.asked = UserTurn(question) if self.is_new_question else None
        """None: the question was on screen before."""
        self.view = AnswerTurn(self.turn, speaker)
        self._figures_at = 0.0

    async def draw(self, keep: Keep) -> None:
        """One frame: the text that came, figures at 5 Hz, a checkpoint about every second. With reduced motion the text
        comes in lines and sentences."""
        answer, now = self.answer, time.monotonic()
        less = motion.reduced(self.view.app)
        if self.begin_in_time(keep):
            self.view.speaker.show_variant(self.turn.variant)
        if answer.fresh:
            piece = motion.take(answer.fresh, steps=less)
            if piece:
                await self.view.feed(piece, answer)
        if now - self._figures_at >= (CALM_FIGURES_SECONDS if less else FIGURES_SECONDS):
            self._figures_at = now
            self.view.show_figures(answer)
        self.checkpoint_in_time(keep)

    async def close(self) -> None:
        """Draw the end."""
        if self.in_vain:
            await self.view.remove()
            if self.asked is not None:
                await self.asked.remove()
        else:
            self.answer.fresh.clear()
            await self.view.complete(self.answer)

    @property
    def context_used(self) -> int | None:
        stats, read = self.answer.stats, self.answer.read
        if read is not None and not self.answer.text:
            return read[0]
        return stats.context_used if stats is not None else None
