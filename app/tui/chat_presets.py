"""The sampling preset of a chat: which one is in force, and what choosing another one does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.clean import clean_line
from app.given_names import DEFAULT
from app.presets import Preset
from app.settings import Samplers
from app.tui.chat_settings import SETTINGS, merged, shown, without
from app.tui.setting import WrongValueError
from engine.protocol import GenerateSettings

OWN_VALUES: Final = "own values"
"""Said where no preset is in force."""
SAMPLERS: Final = tuple(Samplers.model_fields)


def in_force(defaults: GenerateSettings, own: Mapping[str, object], presets: Mapping[str, Preset]) -> str:
    """The preset that would choose tokens just as the chat does now; empty when there is none. Nobody needs to have
    chosen it, and one that was chosen and then changed by a value is not in force any more."""
    now = merged(defaults, own).sampling
    same = (
        name
        for name, preset in presets.items()
        if all(getattr(merged(defaults, preset).sampling, field) == getattr(now, field) for field in SAMPLERS)
    )
    return next(same, "")


def with_preset(own: Mapping[str, object], name: str, presets: Mapping[str, Preset]) -> dict[str, object]:
    """What the chat does otherwise once the preset counts, or none for ``default``: all samplers it had set go, but for
    what rules the text itself (grammar, schema, biases). Raises :class:`WrongValueError`."""
    if name.casefold() == DEFAULT:
        return without(own, *SAMPLERS)
    if name not in presets:
        raise WrongValueError(f"/preset takes {', '.join(presets)} or {DEFAULT}, not {clean_line(name, 40)}.")
    return {**without(own, *SAMPLERS), **presets[name]}


def preset_words(preset: Preset) -> str:
    """``temp 0.3 · top-k 40``: what it sets."""
    words = [f"{one.name} {shown(one, preset[one.field])}" for one in SETTINGS if one.field in preset]
    return " · ".join(words) or "sets nothing"
