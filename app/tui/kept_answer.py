"""One question and its answer on their way into the store, however the chat is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.attached import for_receipt
from app.tui.answer import Answer
from app.tui.conversation import OpenChat, Turn
from engine.protocol import ErrorCode

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
    goes_on: Turn | None = None
    """The answer that goes on."""
    written: str = ""
    """What stood in the composer when it was asked for, as drawn."""


class KeptAnswer:
    """What of a running answer is kept, and when: from its first word on, about every second, and at its end."""

    def __init__(self, answer: Answer, chat: OpenChat, question: Turn, beside: Beside | None = None) -> None:
        self.answer = answer
        answer.unfinished.attachments = for_receipt(chat.attached)
        self.chat = chat
        self.question = question
        self.beside = beside
        self.turn = Turn(None, so_far=answer.so_far)
        self._kept_at = time.monotonic()

    @property
    def is_new_question(self) -> bool:
        """Whether the question was said for this answer; False: it stood there before."""
        return self.beside is None or self.beside.edited is not None

    @property
    def refused(self) -> bool:
        """The engine did not take the message: it is too long, and no answer was begun."""
        failure = self.answer.failure
        return failure is not None and failure.code is ErrorCode.PROMPT_TOO_LARGE and self.turn.message is None

    @property
    def in_vain(self) -> bool:
        """The answer ended and leaves nothing: it was refused, or it was a variant of which no word has come."""
        if self.is_new_question:
            return self.refused
        answer = self.answer
        return self.turn.message is None and not answer.text and answer.finish_reason in ("cancelled", "failed")

    def begin_in_time(self, keep: Keep) -> bool:
        """Begin the answer in the store as soon as there is something of it; whether it was begun by this call."""
        answer = self.answer
        due = answer.running and (answer.text or (answer.read is not None and self.is_new_question))
        if not due or self.turn.message is not None:
            return False
        keep(self.chat.begin, self.turn)
        keep(self.chat.checkpoint, self.turn, answer)  # with its seed, from the beginning
        return True

    def checkpoint_in_time(self, keep: Keep) -> None:
        """Keep the text so far, about every second."""
        now = time.monotonic()
        if self.answer.running and now - self._kept_at >= CHECKPOINT_SECONDS:
            self._kept_at = now
            keep(self.chat.checkpoint, self.turn, self.answer)

    def end(self, keep: Keep) -> None:
        """The answer ended: keep it before it is drawn."""
        if not self.in_vain:
            keep(self.chat.end, self.turn, self.answer)
