"""What the settings of a chat are made of besides its own values: presets and prompts by name, and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.presets import BUILT_IN, Preset
from app.system_prompts import SystemPrompts

CHOSEN_LAST: Final = "chosen last"
"""The origin of what was chosen in a chat and holds for new ones, too."""


@dataclass(frozen=True)
class ByName:
    """The presets and prompts there are, and where the values come from that hold for every chat."""

    presets: Mapping[str, Preset] = field(default_factory=lambda: BUILT_IN)
    prompts: SystemPrompts = field(default_factory=SystemPrompts)
    origins: Mapping[str, str] = field(default_factory=dict)
    """Setting -> who says so where it is not Slipstream: ``settings.toml``, ``command line``, ``preset precise``."""
