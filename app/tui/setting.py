"""One value that can be typed: how it is read, checked by the engine's own records, and shown in few words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from app.clean import clean_line
from app.limits import limits_words
from engine.protocol import GenerateSettings, Sampling

SHOWN: Final = 40
"""Characters of a value in a sentence."""


class WrongValueError(Exception):
    """What was typed is not possible; the message says what is."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a value is typed and shown that is no number."""

    words: str
    """What is typed, for the list of commands: ``on|off``."""
    limits: str
    """What is possible, behind "takes"."""
    read: Callable[[str], object]
    """What was typed, as the record takes it. ValueError: nothing of this kind; WrongValueError: and here is why."""
    show: Callable[[object], str]
    """As it is typed."""
    long: bool = False
    """Too long to be named where there is little room."""


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
    kind: Kind | None = None
    """None: a number."""
    advanced: bool = False
    """Offered only to those who ask for it."""

    @property
    def record(self) -> type[BaseModel]:
        return Sampling if self.field in Sampling.model_fields else GenerateSettings

    @property
    def words(self) -> str:
        """What is typed behind the command."""
        number = "X" if self.record.model_fields[self.field].annotation is float else "N"
        return "|".join(word for word in (self.kind.words if self.kind else number, self.unset) if word)

    @property
    def limits(self) -> str:
        """``0 to 10``, ``above 0, up to 1 (1: off)``."""
        info = self.record.model_fields[self.field]
        words = self.kind.limits if self.kind else limits_words(info)
        if info.description and info.description.endswith(": off"):
            words += f" ({info.description})"
        return f"{words} or {self.unset}" if self.unset else words


def present(settings: GenerateSettings, setting: Setting) -> object:
    """The value in force."""
    return getattr(settings.sampling if setting.record is Sampling else settings, setting.field)


def read_value(setting: Setting, typed: str) -> object:
    """What ``typed`` means. Raises :class:`WrongValueError` with the range in words."""
    typed = typed.strip()
    if setting.unset and typed.casefold() == setting.unset:
        return None
    try:
        return checked(setting.record, setting.field, setting.kind.read(typed) if setting.kind else _number(typed))
    except ValueError as error:
        raise WrongValueError(f"/{setting.name} takes {setting.limits}, not {clean_line(typed, SHOWN)}.") from error


def shown(setting: Setting, value: object) -> str:
    """``0.7``, ``40``, ``random``."""
    if value is None:
        return setting.unset or "none"
    return clean_line(written(setting, value), SHOWN)


def written(setting: Setting, value: object) -> str:
    """As it would be typed, whole."""
    if value is None:
        return setting.unset
    if setting.kind is not None:
        return setting.kind.show(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def checked(record: type[BaseModel], field: str, value: object) -> object:
    """``value`` as the record holds it. ValueError when it is none that the field takes."""
    values = {field: value} if record is Sampling else {"messages": (), field: value}
    found: object = getattr(record.model_validate(values), field)
    if isinstance(found, float) and found == 0:
        found = 0.0  # -0 is the same, and would be shown
    numbers = found.values() if isinstance(found, dict) else (found,)
    if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
        raise ValueError("not a finite number")
    return found


def _number(typed: str) -> str:
    """Pydantic reads ``1_0`` as Python does; who types that meant something else. Raises ValueError."""
    if "_" in typed:
        raise ValueError(typed)
    return typed
