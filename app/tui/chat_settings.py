"""What a chat does otherwise than the defaults: set by commands, checked by the engine's own records, kept with it.

The names are those of the protocol's fields (``temperature``, ``seed``, ``speculation``), and ``system``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from app.clean import clean_line
from engine.protocol import GenerateSettings, Sampling

log = logging.getLogger(__name__)

DEFAULT: Final = "default"
"""The word that goes back to what settings.toml says."""
SYSTEM: Final = "system"
_OF_ANSWERS: Final = ("seed", "draft_max", "max_tokens", "speculation")


class WrongValueError(Exception):
    """What was typed is not possible; the message says what is."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that can be typed."""

    name: str
    """As a command: ``top-k``."""
    field: str
    """In the protocol: ``top_k``."""
    title: str
    help: str
    unset: str = ""
    """The word for None, where that is a value."""

    @property
    def record(self) -> type[BaseModel]:
        return Sampling if self.field in Sampling.model_fields else GenerateSettings

    @property
    def limits(self) -> str:
        """``0 to 10``, ``above 0, up to 1 (1: off)``."""
        info = self.record.model_fields[self.field]
        words = _limits(info)
        if info.description and info.description.endswith(": off"):
            words += f" ({info.description})"
        return f"{words} or {self.unset}" if self.unset else words


SETTINGS: Final = (
    Setting("temp", "temperature", "Temperature", "how freely tokens are chosen; at 0 always the likeliest"),
    Setting("top-k", "top_k", "Top k", "choose among the k likeliest tokens only"),
    Setting("top-p", "top_p", "Top p", "choose among the likeliest tokens that together have this probability"),
    Setting("min-p", "min_p", "Min p", "leave out tokens less likely than this share of the likeliest one"),
    Setting("seed", "seed", "Seed", "the same seed gives the same answer", "random"),
    Setting("draft-max", "draft_max", "Longest draft", "how many tokens are proposed at once at most", "auto"),
    Setting("max-tokens", "max_tokens", "Longest answer", "where an answer is cut off", "none"),
)


def merged(defaults: GenerateSettings, own: Mapping[str, object]) -> GenerateSettings:
    """The defaults with what the chat does otherwise. A value that is not possible (any more) is left out."""
    sampling: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for name, value in own.items():
        record: type[BaseModel] = Sampling if name in Sampling.model_fields else GenerateSettings
        if record is GenerateSettings and name not in _OF_ANSWERS:
            continue
        try:
            (sampling if record is Sampling else answers)[name] = _checked(record, name, value)
        except ValidationError:
            log.warning("the chat's own %s is not possible: %r", name, value)
    return defaults.model_copy(update={"sampling": defaults.sampling.model_copy(update=sampling), **answers})


def system_prompt(default: str, own: Mapping[str, object]) -> str:
    """What the model is told before the first message of the chat."""
    value = own.get(SYSTEM)
    return value if isinstance(value, str) else default


def present(settings: GenerateSettings, setting: Setting) -> object:
    """The value in force."""
    return getattr(settings.sampling if setting.record is Sampling else settings, setting.field)


def read_value(setting: Setting, typed: str) -> object:
    """What ``typed`` means. Raises :class:`WrongValueError` with the range in words."""
    typed = typed.strip()
    if setting.unset and typed.casefold() == setting.unset:
        return None
    try:
        value = _checked(setting.record, setting.field, typed)
        if not isinstance(value, float) or math.isfinite(value):
            return value
    except ValidationError:
        pass
    raise WrongValueError(f"/{setting.name} takes {setting.limits}, not {clean_line(typed, 40)}.")


def shown(setting: Setting, value: object) -> str:
    """``0.7``, ``40``, ``random``."""
    if value is None:
        return setting.unset or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def differing(defaults: GenerateSettings, settings: GenerateSettings) -> list[str]:
    """``seed 7``: what is set otherwise than by default, in few words; the temperature is shown anyway."""
    return [
        f"{setting.name} {shown(setting, present(settings, setting))}"
        for setting in SETTINGS
        if setting.name != "temp" and present(settings, setting) != present(defaults, setting)
    ]


def _checked(record: type[BaseModel], field: str, value: object) -> object:
    values = {field: value} if record is Sampling else {"messages": (), field: value}
    return getattr(record.model_validate(values), field)


def _limits(info: FieldInfo) -> str:
    bounds = {
        name: getattr(bound, name)
        for bound in info.metadata
        for name in ("ge", "gt", "le", "lt")
        if hasattr(bound, name)
    }
    number = "a whole number" if info.annotation is not float else ""
    low = f"{bounds['ge']:g}" if "ge" in bounds else f"above {bounds['gt']:g}" if "gt" in bounds else ""
    if "le" in bounds:
        high = f"up to {bounds['le']:g}" if "gt" in bounds else f"to {bounds['le']:g}"
        words = f"{low}{',' if 'gt' in bounds else ''} {high}"
    else:
        words = f"from {low} up"
    return f"{number} {words}".strip() if "le" not in bounds or not number else f"{number}, {words}"
