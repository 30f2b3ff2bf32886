"""Which keys are pressed for a command."""

from __future__ import annotations

from app.tui.commands import OF_ACTION
from app.tui.keymap import shown_for
from app.tui.keys import APP, CHAT


def pressed(key: str) -> str:
    """``ctrl+t`` for what ``key_of("speculation")`` says; ``alt+↑ r`` for ids of keys pressed one after the other. As
    the user has them."""
    if not key.startswith(OF_ACTION):
        return shown_for(key.split())
    action = key.removeprefix(OF_ACTION)
    return shown_for([str(one.id) for one in (*CHAT, *APP) if one.action.removeprefix("app.") == action][:1])
