"""Which keys are pressed for a command."""

from __future__ import annotations

from app.tui.commands import OF_ACTION
from app.tui.keys import APP, CHAT, TURN


def pressed(key: str) -> str:
    """``ctrl+t`` for what ``key_of("speculation")`` says; ``alt+↑ r`` for ids of keys pressed one after the other."""
    if key.startswith(OF_ACTION):
        action = key.removeprefix(OF_ACTION)
        found = (one for one in (*CHAT, *APP) if one.action.removeprefix("app.") == action)
        return next((one.key_display or one.key.split(",")[0] for one in found), "")
    known = {binding.id: binding for binding in (*CHAT, *APP, *TURN)}
    bindings = [known[identifier] for identifier in key.split() if identifier in known]
    return " ".join((not at and one.key_display) or one.key.split(",")[0] for at, one in enumerate(bindings))
