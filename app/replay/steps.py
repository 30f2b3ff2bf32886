"""What a replay is doing, and how far it is: said at once, since a long answer takes as long as it took to make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.percent import share
from engine.protocol import Loading, Prefilling

CHECKING: Final = "checking the model file"
LOADING: Final = "loading the model"
READING: Final = "reading the prompt"
COMPARING: Final = "comparing every token"
ASKING: Final = "looking at the first difference"


@dataclass(frozen=True, slots=True)
class Step:
    """``total`` 0: how far is not known. ``tokens``: what is counted; else it is a share of something."""

    doing: str
    done: int = 0
    total: int = 0
    tokens: bool = False

    @property
    def words(self) -> str:
        """``checking the model file… 41 %``, ``comparing every token… 120/512``."""
        if not self.total:
            return f"{self.doing}…"
        far = f"{self.done:,}/{self.total:,}" if self.tokens else share(self.done, self.total)
        return f"{self.doing}… {far}"


Watch = Callable[[Step], None]
"""Hears of every step; what it raises ends the replay while a file is read."""


def of_loading(event: Loading) -> Step:
    """The target, or the draft beside it."""
    return Step(LOADING if event.what == "target" else "loading the draft", round(100 * event.fraction), 100)


def of_passes(event: Prefilling, prompt: int) -> Step:
    """By the recorded passes the prompt is read and the tokens behind it are compared in one go."""
    return Step(READING if event.done < prompt else COMPARING, event.done, event.total, tokens=True)
