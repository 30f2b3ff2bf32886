"""What the sheet of a chat's settings says, row by row: the value in force, whence it comes, and how it is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from app.by_name import ByName
from app.clean import clean_line
from app.given_names import DEFAULT, NONE
from app.tui.chat_presets import OWN_VALUES, SAMPLERS, in_force, preset_words, with_preset
from app.tui.chat_settings import (
    SETTINGS,
    SPECULATION,
    SYSTEM,
    THINKING,
    Setting,
    WrongValueError,
    merged,
    possible,
    present,
    shown,
    system_name,
    system_prompt,
    with_value,
    without,
)
from app.tui.command_settings import MEANINGS
from app.tui.command_system import with_system
from engine.protocol import GenerateSettings, PairInfo, SpeculationMode

PRESET: Final = "preset"
THIS_CHAT: Final = "this chat"
SLIPSTREAM: Final = "Slipstream"
"""Nobody has said otherwise."""
OWN_TEXT: Final = "a text"
BEGINNING: Final = 200
"""Characters of a system prompt that are looked at."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One setting."""

    key: str
    """The protocol's field, ``preset`` or ``system``."""
    title: str
    value: str
    origin: str
    help: str
    limits: str
    """What it can be, behind "takes"."""
    default: str
    """What it would be if this chat said nothing."""
    own: bool
    """Whether this chat says so."""
    setting: Setting | None = None
    """What is typed; the others are chosen from a few."""
    advanced: bool = False

    @property
    def typed(self) -> bool:
        """Whether the value is typed rather than chosen."""
        return self.setting is not None and self.key != THINKING


@dataclass(frozen=True)
class ChatValues:
    """What the settings of a chat are made of."""

    defaults: GenerateSettings
    system: str
    """The system prompt of chats that have none of their own."""
    own: Mapping[str, object]
    by_name: ByName
    pair: PairInfo | None
    """What answers, where that is known."""

    @property
    def now(self) -> GenerateSettings:
        """The settings in force."""
        return merged(self.defaults, self.own)

    @property
    def preset(self) -> str:
        """The preset in force; empty where there is none."""
        return in_force(self.defaults, self.own, self.by_name.presets)

    @property
    def thinking_matters(self) -> bool:
        """Whether it can be switched, or was."""
        return THINKING in self.own or (self.pair is not None and self.pair.template.thinking == "switchable")

    def origin(self, key: str) -> str:
        """Who says so where the chat does not."""
        return self.by_name.origins.get(key, SLIPSTREAM)


def sheet_rows(chat: ChatValues) -> list[SheetRow]:
    """Every row in its order: samplers that matter most, how answers are made, and the advanced ones last."""
    numbers = [*_typed(chat)]
    usual = [row for row in numbers if not row.advanced]
    return [
        _preset(chat),
        *(row for row in usual if row.key in SAMPLERS),
        *(row for row in usual if row.key not in SAMPLERS),
        _speculation(chat),
        _system(chat),
        *(row for row in numbers if row.advanced),
    ]


def changed(chat: ChatValues, row: SheetRow, typed: str) -> dict[str, object]:
    """What the chat does otherwise once ``typed`` counts for that row: a value, a name, or the word ``default``, as
    behind the slash command. Raises :class:`WrongValueError`."""
    if row.setting is not None:
        return with_value(chat.own, row.setting, typed)
    if row.key == PRESET:
        return with_preset(chat.own, typed, chat.by_name.presets)
    if row.key == SYSTEM:
        return with_system(chat.own, typed, chat.by_name.prompts)
    if typed != DEFAULT and typed not in get_args(SpeculationMode):
        raise WrongValueError(f"Speculation takes {row.limits}, not {clean_line(typed, 40)}.")
    return without(chat.own, row.key) if typed == DEFAULT else {**chat.own, row.key: typed}


def _typed(chat: ChatValues) -> list[SheetRow]:
    now, own, preset = chat.now, possible(chat.own), chat.preset
    of_preset = chat.by_name.presets.get(preset, {})
    found = []
    for setting in SETTINGS:
        field = setting.field
        if field == THINKING and not chat.thinking_matters:
            continue
        origin = chat.origin(field)
        if field in own:
            origin = f"preset {preset}" if field in of_preset else THIS_CHAT
        value, default = (shown(setting, present(values, setting)) for values in (now, chat.defaults))
        found.append(
            SheetRow(field, setting.title, value, origin, setting.help, setting.limits, default, field in own, setting,
                     setting.advanced)
        )  # fmt: skip
    return found


def _preset(chat: ChatValues) -> SheetRow:
    name, presets = chat.preset, chat.by_name.presets
    own = any(field in SAMPLERS for field in possible(chat.own))
    return SheetRow(
        PRESET,
        "Preset",
        name or OWN_VALUES,
        THIS_CHAT if own else chat.origin(PRESET),
        preset_words(presets[name]) if name else "the samplers below are as in no preset",
        f"{', '.join(presets)} or {DEFAULT}",
        in_force(chat.defaults, {}, presets) or OWN_VALUES,
        own,
    )


def _speculation(chat: ChatValues) -> SheetRow:
    mode, own = chat.now.speculation, SPECULATION in possible(chat.own)
    return SheetRow(
        SPECULATION,
        "Speculation",
        mode,
        THIS_CHAT if own else chat.origin(SPECULATION),
        MEANINGS[mode],
        ", ".join(get_args(SpeculationMode)),
        chat.defaults.speculation,
        own,
    )


def _system(chat: ChatValues) -> SheetRow:
    prompts, own = chat.by_name.prompts, isinstance(chat.own.get(SYSTEM), str)
    text = system_prompt(chat.system, chat.own)
    default = prompts.name_of(chat.system) or clean_line(chat.system, 60) or NONE
    return SheetRow(
        SYSTEM,
        "System prompt",
        prompts.name_of(text, system_name(chat.own)) or (OWN_TEXT if text.strip() else NONE),
        THIS_CHAT if own else chat.origin(SYSTEM),
        clean_line(text, BEGINNING) or "what the model is told before the first message",
        "a text, or the name of a prompt that was kept",
        default,
        own,
    )
