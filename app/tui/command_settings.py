"""Commands that change how this chat is answered, each with one sentence that says what it was and what it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from app.clean import clean_line
from app.tui.chat_settings import (
    DEFAULT,
    THINKING,
    Setting,
    WrongValueError,
    changes,
    present,
    shown,
    with_value,
)
from app.tui.commands import Command, RefusedError
from app.tui.modes import MODES, reasons_against
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen
    from app.tui.surface import Surface

_USUAL: Final = {
    "temp": {"0": "greedy: always the likeliest token", "0.3": "as in precise", "0.7": "as in balanced",
             "1": "as in creative"},
    "thinking": {"on": "slower, and often better at what takes steps", "off": "the answer at once"},
    "repeat-penalty": {"1": "off", "1.1": "already much"},
    "dry-multiplier": {"0": "off", "0.8": "usual"},
    "xtc-probability": {"0": "off", "0.5": "usual"},
}  # fmt: skip
"""Values that one would try."""
MEANINGS: Final = {
    "off": "plain decoding, one token a pass",
    "lookup": "the text so far proposes; free",
    "draft": "a smaller model proposes",
    "auto": "drafts only while it can help",
}
NOT_LOADED: Final = "Whether thinking can be switched is known when a model is loaded."
_NO_CHOICE: Final = {
    "none": "The chat template of this model knows no thinking.",
    "always": "This model always thinks before it answers; its chat template lets nobody choose.",
}


def command(setting: Setting) -> Command:
    """The command that shows and changes one value."""
    why_not = no_thinking if setting.field == THINKING else _nothing_against
    return Command(
        setting.name,
        setting.title,
        setting.help,
        partial(_change, setting),
        setting.words,
        complete=partial(suggest_values, setting),
        available=lambda screen: not why_not(screen),
        why_not=why_not,
        asks=True,
        advanced=setting.advanced,
        where="both",
    )


def no_thinking(screen: Surface) -> str:
    """Why thinking cannot be switched, in a sentence; empty when it can. What a chat has set it can take back."""
    if THINKING in screen.chat.conversation.settings:
        return ""
    pair = screen.answering.state.pair
    return NOT_LOADED if pair is None else _NO_CHOICE.get(pair.template.thinking, "")


def _nothing_against(screen: Surface) -> str:
    return ""


def _change(setting: Setting, screen: Surface, argument: str) -> None:
    before = screen.settings_now()
    was = shown(setting, present(before, setting))
    if not argument:
        screen.reply(f"{setting.name} is {was}; /{setting.name} takes {setting.limits}.")
        return
    try:
        own = with_value(screen.chat.conversation.settings, setting, argument)
    except WrongValueError as error:
        raise RefusedError(f"{error} It stays {was}.") from error
    screen.keep_settings(own)
    after = screen.settings_now()
    others = [words for words in changes(before, after) if not words.startswith(f"{setting.name} ")]
    now = shown(setting, present(after, setting))
    said = [f"{setting.name} is {now} already" if now == was else f"{setting.name} {was} → {now}", *others]
    screen.reply(f"{', '.join(said)}, {where(screen)}.")


def suggest_values(setting: Setting, screen: Surface) -> Sequence[Suggestion]:
    default = shown(setting, present(screen.defaults, setting))
    values = {**_USUAL.get(setting.name, {})}
    if setting.unset:
        values[setting.unset] = "as the model does by itself" if setting.field == THINKING else setting.limits
    values[DEFAULT] = f"{default}, as for every chat"
    return [Suggestion(value, value, help_text) for value, help_text in values.items()]


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
    return [Suggestion(mode, mode, MEANINGS[mode] if (reason := reasons[mode]) is None else reason) for mode in MODES]


def choose_theme(screen: Surface, argument: str) -> None:
    """``/theme NAME``; without one the list of themes opens."""
    from app.tui.theme_list import theme_names

    app = cast("ChatScreen", screen).slipstream
    if app.no_color:
        raise RefusedError("NO_COLOR is set in the environment, so there are no colours to choose from.")
    if not argument:
        app.search_themes()
        return
    if argument not in theme_names(app):
        raise RefusedError(f"There is no theme called {clean_line(argument, 40)}. /theme and a space shows all.")
    if argument == app.theme:
        screen.reply(f"The theme is {argument} already.")
        return
    before, app.theme = app.theme, argument
    fixed = "until Slipstream ends; settings.toml keeps one for good"
    screen.reply(f"theme {before} → {argument}, {fixed if app.keep_theme is None else 'also for the next start'}.")


def suggest_themes(screen: Surface) -> Sequence[Suggestion]:
    from app.tui.theme_list import about, theme_names

    app = cast("ChatScreen", screen).slipstream
    if app.no_color:
        return ()
    return [
        Suggestion(name, name, f"in use · {about(name)}" if name == app.theme else about(name))
        for name in theme_names(app)
    ]


def where(screen: Surface) -> str:
    """What a change is for."""
    return "in this chat, from the next answer on" if screen.dialogue.live is not None else "in this chat"
