"""One answer while it is made: what the worker writes and the screen looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from app.tui.thoughts import Thinking
from app.tui.unfinished import Unfinished
from engine.protocol import Failed, Finished, GenerateSettings
from engine.stats import Stats


class Phase(Enum):
    """Where an answer is."""

    WAITING = "waiting"  # for the model
    READING = "reading"  # the prompt
    WRITING = "writing"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(eq=False)
class Answer:
    """One answer while it is made."""

    settings: GenerateSettings
    phase: Phase = Phase.WAITING
    so_far: str = ""
    """What it begins with, when it goes on with another one; ``text`` is what is new."""
    text: str = ""
    fresh: list[str] = field(default_factory=list)
    """Pieces that the screen has not drawn yet."""
    pieces: list[tuple[str, int]] = field(default_factory=list)
    """Every piece of new text as it came, and how many tokens had come with it."""
    read: tuple[int, int] | None = None
    """Prompt tokens (done, total)."""
    stats: Stats | None = None
    drafter: str = ""
    context: int = 0
    """Size in tokens of the context it is made in; 0 while that is not known."""
    thinking: Thinking = field(default_factory=Thinking)
    """How it thinks; known before its first text."""
    tokens: int = 0
    """Tokens whose text has arrived, or will with the next one."""
    finish_reason: str = ""
    """``stop``, ``length``, ``cancelled`` or ``failed`` once it ended."""
    unfinished: Unfinished = field(default_factory=Unfinished)
    """What is kept of it until it has ended."""
    finished: Finished | None = None
    failure: Failed | None = None
    stop_wanted: bool = False

    @property
    def running(self) -> bool:
        return self.phase is not Phase.ENDED

    @property
    def whole(self) -> str:
        """All of it, as it is shown and kept."""
        retracted = self.finished.retracted if self.finished else 0
        return self.so_far[: len(self.so_far) - retracted] + self.text
