"""The answer being made, from the engine's events to the screen and the store, in measured steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from app.tui.answering import Answer
from app.tui.conversation import OpenChat, Turn
from app.tui.widgets.turns import AnswerTurn, UserTurn
from engine.protocol import ErrorCode

FRAME_SECONDS: Final = 1 / 12
FIGURES_SECONDS: Final = 0.2
CHECKPOINT_SECONDS: Final = 0.8

Keep = Callable[..., None]
"""``keep(write, *what)``: write to the store and survive it."""


class LiveAnswer:
    """One question, its answer, and the two turns on screen that show them."""

    def __init__(self, answer: Answer, chat: OpenChat, question: Turn, speaker: str) -> None:
        self.answer = answer
        self.chat = chat
        self.question = question
        self.turn = Turn(None)
        self.asked = UserTurn(question)
        self.view = AnswerTurn(self.turn, speaker)
        self._figures_at = 0.0
        self._kept_at = time.monotonic()

    @property
    def refused(self) -> bool:
        """The engine did not take the message: it is too long, and no answer was begun."""
        failure = self.answer.failure
        return failure is not None and failure.code is ErrorCode.PROMPT_TOO_LARGE and self.turn.message is None

    async def draw(self, keep: Keep) -> None:
        """One frame: the text that came, figures at 5 Hz, a checkpoint about every second."""
        answer, now = self.answer, time.monotonic()
        if answer.running and (answer.read is not None or answer.text):
            keep(self.chat.begin, self.turn)
        if answer.fresh:
            piece = "".join(answer.fresh)
            answer.fresh.clear()
            await self.view.feed(piece, answer)
        if now - self._figures_at >= FIGURES_SECONDS:
            self._figures_at = now
            self.view.show_figures(answer)
        if answer.running and now - self._kept_at >= CHECKPOINT_SECONDS:
            self._kept_at = now
            keep(self.chat.checkpoint, self.turn, answer.text)

    def end(self, keep: Keep) -> None:
        """The answer ended: keep it before it is drawn."""
        if not self.refused:
            keep(self.chat.end, self.turn, self.answer)

    async def close(self) -> str | None:
        """Draw the end; returns the message's text when it was refused and goes back to the composer."""
        if self.refused:
            text = self.chat.take_back(self.question)
            await self.view.remove()
            await self.asked.remove()
            return text
        self.answer.fresh.clear()
        await self.view.complete(self.answer)
        return None

    @property
    def context_used(self) -> int | None:
        stats, read = self.answer.stats, self.answer.read
        if read is not None and not self.answer.text:
            return read[0]
        return stats.prompt_tokens + stats.output_tokens if stats is not None else None
