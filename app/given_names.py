"""Names that a person gives to system prompts and sampling presets."""

from __future__ import annotations

from typing import Final

from app.clean import clean_line

DEFAULT: Final = "default"
"""The word that goes back to what settings.toml says."""
NONE: Final = "none"
LONGEST: Final = 40
"""Characters of a name."""


def name_trouble(name: str) -> str:
    """Why nothing can be called ``name``, to go behind it in a sentence; empty when it can."""
    if not name.strip():
        return "is no name"
    if name.casefold() in (DEFAULT, NONE):
        return "is a word of the commands and cannot be a name"
    if clean_line(name, len(name)) != name:
        return "holds control codes or spaces that would not be seen, and cannot be a name"
    if len(name) > LONGEST:
        return f"is longer than the {LONGEST} characters of a name"
    return ""
