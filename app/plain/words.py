"""Sentences that name a key of the screen, said for a chat without one."""

from __future__ import annotations

from typing import Final

_SAID_HERE: Final = (
    ("ctrl+l shows the models there are", "/models lists the models there are"),
    ("ctrl+l shows those that are here and those that can be fetched", "/models lists those that are here"),
    ("ctrl+l shows what there is", "/models lists what there is"),
    ("/models shows those that are here and those that can be fetched", "/models lists those that are here"),
    ("/models shows what can be done", "slipstream models pull gets it"),
    ("/models uses it all the same", "Start with --model to use it all the same"),
    ("r asks for another one", "/regenerate asks for another one"),
    ("r asks for it again", "/regenerate asks for it again"),
    ("c copies the text", "/copy copies the text"),
    ("/ shows all.", "/help shows all."),
)


def in_lines(text: str) -> str:
    """``text`` with the command in the place of the key."""
    for with_key, here in _SAID_HERE:
        text = text.replace(with_key, here)
    return text
