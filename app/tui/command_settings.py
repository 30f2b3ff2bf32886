"""Commands that change how this chat is answered, each with one sentence that says what it was and what it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from app.clean import clean_line
from app.tui.chat_settings import (
    DEFAULT,
    SYSTEM,
    Setting,
    WrongValueError,
    present,
    read_value,
    shown,
    system_prompt,
)
from app.tui.commands import Command, RefusedError
from app.tui.modes import MODES, reasons_against
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen
    from app.tui.surface import Surface

PRESETS: Final = {
    "temp": {
        "0": "greedy: always the likeliest token",
        "0.3": "precise",
        "0.7": "balanced",
        "1": "creative",
    },
}
NONE: Final = "none"
_MEANINGS: Final = {
    "off": "plain decoding, one token a pass",
    "lookup": "the text so far proposes; free",
    "draft": "a smaller model proposes",
    "auto": "drafts only while it can help",
}


def command(setting: Setting) -> Command:
    """The command that shows and changes one value."""
    words = "|".join(part for part in ("X" if setting.field == "temperature" else "N", setting.unset) if part)
    return Command(
        setting.name,
        setting.title,
        setting.help,
        partial(_change, setting),
        words,
        complete=partial(_suggest, setting),
        asks=True,
        where="both",
    )


def _change(setting: Setting, screen: Surface, argument: str) -> None:
    before = shown(setting, present(screen.settings_now(), setting))
    if not argument:
        screen.reply(f"{setting.name} is {before}; /{setting.name} takes {setting.limits}.")
        return
    own = dict(screen.chat.conversation.settings)
    if argument.casefold() == DEFAULT:
        own.pop(setting.field, None)
    else:
        try:
            own[setting.field] = read_value(setting, argument)
        except WrongValueError as error:
            raise RefusedError(f"{error} It stays {before}.") from error
    screen.keep_settings(own)
    now = shown(setting, present(screen.settings_now(), setting))
    screen.reply(f"{setting.name} {before} → {now}, {_where(screen)}.")


def _suggest(setting: Setting, screen: Surface) -> Sequence[Suggestion]:
    default = shown(setting, present(screen.defaults, setting))
    values = {**PRESETS.get(setting.name, {})}
    if setting.unset:
        values[setting.unset] = setting.limits
    values[DEFAULT] = f"{default}, as for every chat"
    return [Suggestion(value, value, help_text) for value, help_text in values.items()]


def set_system(screen: Surface, argument: str) -> None:
    """``/system TEXT``: for this chat; ``none`` and ``default`` are words of their own."""
    own = dict(screen.chat.conversation.settings)
    before = _quoted(system_prompt(screen.system_prompt, own))
    if not argument:
        screen.reply(f"The system prompt is {before}. /system takes a text, none, or default.")
        return
    if argument.casefold() == DEFAULT:
        own.pop(SYSTEM, None)
    else:
        own[SYSTEM] = "" if argument.casefold() == NONE else argument
    screen.keep_settings(own)
    now = _quoted(system_prompt(screen.system_prompt, own))
    screen.reply(f"System prompt {before} → {now}, {_where(screen)}.")


def choose_mode(screen: Surface, argument: str) -> None:
    """``/spec MODE``; without one the switch opens."""
    if not argument:
        screen.action_speculation()
        return
    for mode in MODES:
        if mode == argument.casefold():
            reason = reasons_against(screen.answering.state.pair)[mode]
            if reason is not None:
                raise RefusedError(f"Speculation by {mode} is not possible: {reason}. It stays {screen.mode}.")
            screen.choose_mode(mode)
            return
    raise RefusedError(f"/spec takes {', '.join(MODES[:-1])} or {MODES[-1]}, not {clean_line(argument, 40)}.")


def suggest_modes(screen: Surface) -> Sequence[Suggestion]:
    reasons = reasons_against(screen.answering.state.pair)
    return [Suggestion(mode, mode, _MEANINGS[mode] if (reason := reasons[mode]) is None else reason) for mode in MODES]


def choose_theme(screen: Surface, argument: str) -> None:
    """``/theme NAME``; without one the list of themes opens."""
    app = cast("ChatScreen", screen).app
    if not argument:
        app.action_change_theme()
        return
    if argument not in app.available_themes:
        raise RefusedError(f"There is no theme called {clean_line(argument, 40)}. /theme and a space shows all.")
    before, app.theme = app.theme, argument
    screen.reply(f"theme {before} → {argument}, until Slipstream ends; settings.toml keeps one for good.")


def suggest_themes(screen: Surface) -> Sequence[Suggestion]:
    app = cast("ChatScreen", screen).app
    names = sorted(app.available_themes, key=lambda name: (not name.startswith("slipstream"), name))
    return [Suggestion(name, name, "in use" if name == app.theme else "") for name in names]


def _where(screen: Surface) -> str:
    return "in this chat, from the next answer on" if screen.dialogue.live is not None else "in this chat"


def _quoted(text: str) -> str:
    return f'"{clean_line(text, 40)}"' if text.strip() else NONE
