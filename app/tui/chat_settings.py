"""What a chat does otherwise than the defaults: set by commands or in its sheet, and kept with it.

The names are those of the protocol's fields (``temperature``, ``seed``, ``speculation``), ``system`` and
``system_name``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from app.given_names import DEFAULT
from app.tui.setting import Setting, WrongValueError, checked, present, read_value, shown
from app.tui.setting_table import SETTINGS, THINKING
from engine.protocol import GenerateSettings, Sampling

__all__ = [
    "DEFAULT",
    "SETTINGS",
    "THINKING",
    "Setting",
    "WrongValueError",
    "present",
    "read_value",
    "shown",
]
"""What else belongs to them; the rest is defined here."""

log = logging.getLogger(__name__)

SYSTEM: Final = "system"
SYSTEM_NAME: Final = "system_name"
"""The name that its text was given by, where it was one."""
SPECULATION: Final = "speculation"
_OF_ANSWERS: Final = ("seed", "draft_max", "max_tokens", SPECULATION, THINKING)
_ONE_OF: Final = ("grammar", "json_schema")
"""Only one of them can rule an answer."""


def merged(defaults: GenerateSettings, own: Mapping[str, object]) -> GenerateSettings:
    """The defaults with what the chat does otherwise. A value that is not possible (any more) is left out."""
    values = possible(own)
    sampling = {name: value for name, value in values.items() if name in Sampling.model_fields}
    answers = {name: value for name, value in values.items() if name not in sampling}
    return defaults.model_copy(update={"sampling": defaults.sampling.model_copy(update=sampling), **answers})


def possible(own: Mapping[str, object]) -> dict[str, Any]:
    """What the chat does otherwise, by the protocol's names, without what is not possible (any more)."""
    values: dict[str, Any] = {}
    for name, value in own.items():
        record: type[BaseModel] = Sampling if name in Sampling.model_fields else GenerateSettings
        if record is Sampling or name in _OF_ANSWERS:
            try:
                values[name] = checked(record, name, value)
            except ValueError:
                log.warning("the chat's own %s is not possible: %.200r", name, value)
    return values


def system_prompt(default: str, own: Mapping[str, object]) -> str:
    """What the model is told before the first message of the chat."""
    value = own.get(SYSTEM)
    return value if isinstance(value, str) else default


def system_name(own: Mapping[str, object]) -> str:
    """The name that the chat's own system prompt was given by; empty where nobody knows one."""
    value = own.get(SYSTEM_NAME)
    return value if isinstance(value, str) and SYSTEM in own else ""


def with_value(own: Mapping[str, object], setting: Setting, typed: str) -> dict[str, object]:
    """What the chat does otherwise once ``typed`` counts: a value, or the word ``default``. Raises
    :class:`WrongValueError`."""
    if typed.strip().casefold() == DEFAULT:
        return without(own, setting.field)
    value = read_value(setting, typed)
    if value is not None and setting.field in _ONE_OF:
        own = without(own, *_ONE_OF)
    return {**own, setting.field: value}


def without(own: Mapping[str, object], *fields: str) -> dict[str, object]:
    """What the chat does otherwise, but for these: there it does as every chat."""
    return {name: value for name, value in own.items() if name not in fields}


def changes(before: GenerateSettings, after: GenerateSettings) -> list[str]:
    """``temp 0.7 → 0.3``: what has become of the settings."""
    return [
        f"{setting.name} {shown(setting, present(before, setting))} → {shown(setting, value)}"
        for setting in SETTINGS
        if (value := present(after, setting)) != present(before, setting)
    ]


def differing(defaults: GenerateSettings, settings: GenerateSettings) -> list[str]:
    """``seed 7``: what is set otherwise than by default, in few words; the temperature is shown anyway."""
    return [
        setting.name if setting.kind and setting.kind.long else f"{setting.name} {shown(setting, value)}"
        for setting in SETTINGS
        if setting.name != "temp" and (value := present(settings, setting)) != present(defaults, setting)
    ]
