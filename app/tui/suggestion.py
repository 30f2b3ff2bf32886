"""One row of what can be typed next: no widget, so that a chat without a screen can know the commands, too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One row: what is put into the text, how it is shown, and what it means."""

    value: str
    shown: str
    help: str = ""
    key: str = ""
    """The key that does the same."""
    words: str = ""
    """What is typed behind it."""
