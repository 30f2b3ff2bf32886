"""The answer being made, from the engine's events to the screen and the store, in measured steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.attached import for_receipt
from app.tui.answering import Answer
from app.tui.conversation import OpenChat, Turn
from app.tui.widgets.turns import AnswerTurn, UserTurn
from engine.protocol import ErrorCode

FRAME_SECONDS: Final = 1 / 12
FIGURES_SECONDS: Final = 0.2
CHECKPOINT_SECONDS: Final = 0.8

Keep = Callable[..., None]
"""``keep(write, *what)``: write to the store and survive it."""


@dataclass(frozen=True)
class Beside:
    """What an answer is a variant of, and what comes back when nothing comes of it."""

    leaf: int
    """The last message of the branch that was on screen."""
    edited: Turn | None = None
    """The message that was edited; None: its answer is made again, or goes on."""


class LiveAnswer:
    """One question, its answer, and the two turns on screen that show them."""

    def __init__(
        self, answer: Answer, chat: OpenChat, question: Turn, speaker: str, beside: Beside | None = None
    ) -> None:
        self.answer = answer
        answer.unfinished.attachments = for_receipt(chat.attached)
        self.chat = chat
        self.question = question
        self.beside = beside
        self.turn = Turn(None, so_far=answer.so_far)
        self.asked = UserTurn(question) if self._is_new_question else None
        """None: the question was on screen before."""
        self.view = AnswerTurn(self.turn, speaker)
        self._figures_at = 0.0
        self._kept_at = time.monotonic()

    @property
    def _is_new_question(self) -> bool:
        return self.beside is None or self.beside.edited is not None

    @property
    def refused(self) -> bool:
        """The engine did not take the message: it is too long, and no answer was begun."""
        failure = self.answer.failure
        return failure is not None and failure.code is ErrorCode.PROMPT_TOO_LARGE and self.turn.message is None

    @property
    def in_vain(self) -> bool:
        """The answer ended and leaves nothing: it was refused, or it was a variant of which no word has come."""
        if self._is_new_question:
            return self.refused
        answer = self.answer
        return self.turn.message is None and not answer.text and answer.finish_reason in ("cancelled", "failed")

    async def draw(self, keep: Keep) -> None:
        """One frame: the text that came, figures at 5 Hz, a checkpoint about every second."""
        answer, now = self.answer, time.monotonic()
        if answer.running and (answer.text or (answer.read is not None and self._is_new_question)):
            self._begin(keep)
        if answer.fresh:
            piece = "".join(answer.fresh)
            answer.fresh.clear()
            await self.view.feed(piece, answer)
        if now - self._figures_at >= FIGURES_SECONDS:
            self._figures_at = now
            self.view.show_figures(answer)
        if answer.running and now - self._kept_at >= CHECKPOINT_SECONDS:
            self._kept_at = now
            keep(self.chat.checkpoint, self.turn, answer)

    def _begin(self, keep: Keep) -> None:
        if self.turn.message is None:
            keep(self.chat.begin, self.turn)
            keep(self.chat.checkpoint, self.turn, self.answer)  # with its seed, from the beginning
            self.view.speaker.show_variant(self.turn.variant)

    def end(self, keep: Keep) -> None:
        """The answer ended: keep it before it is drawn."""
        if not self.in_vain:
            keep(self.chat.end, self.turn, self.answer)

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
        return stats.prompt_tokens + stats.output_tokens if stats is not None else None
