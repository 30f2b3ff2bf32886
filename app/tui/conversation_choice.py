"""What was chosen on the Chats screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opening:
    """The chat to go on with."""

    conversation: int | None
    """None: a new one."""
    message: int | None = None
    """The message that was searched for, if one was."""
    words: str = ""
    """What there is to say about it."""
