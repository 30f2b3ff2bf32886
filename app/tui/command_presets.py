"""``/preset``: samplers that go together, under one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.tui.chat_presets import OWN_VALUES, in_force, preset_words, with_preset
from app.tui.chat_settings import DEFAULT, WrongValueError, changes
from app.tui.command_settings import where
from app.tui.commands import RefusedError
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.surface import Surface


def choose_preset(screen: Surface, name: str) -> None:
    """``/preset NAME`` sets its samplers for this chat; without a name it says which one is in force."""
    presets = screen.slipstream.by_name.presets
    was = _now(screen)
    if not name:
        screen.reply(f"The preset is {was}. /preset takes {', '.join(presets)} or {DEFAULT}.")
        return
    before = screen.settings_now()
    try:
        own = with_preset(screen.chat.conversation.settings, name, presets)
    except WrongValueError as error:
        raise RefusedError(f"{error} It stays {was}.") from error
    screen.keep_settings(own)
    changed = ", ".join(changes(before, screen.settings_now())) or "nothing had to change"
    screen.reply(f"preset {was} → {_now(screen)}: {changed}, {where(screen)}.")


def suggest_presets(screen: Surface) -> Sequence[Suggestion]:
    presets = screen.slipstream.by_name.presets
    rows = [Suggestion(name, name, preset_words(preset)) for name, preset in presets.items()]
    default = in_force(screen.defaults, {}, presets) or OWN_VALUES
    return [*rows, Suggestion(DEFAULT, DEFAULT, f"{default}, as for every chat")]


def _now(screen: Surface) -> str:
    own, presets = screen.chat.conversation.settings, screen.slipstream.by_name.presets
    return in_force(screen.defaults, own, presets) or OWN_VALUES
