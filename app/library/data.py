"""Files that travel with the program (models.toml, assets), wherever it is installed."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def shipped(*parts: str) -> Traversable:
    """The shipped file or folder ``parts``: from the wheel, or from the working copy that an editable install runs."""
    packaged = files("app").joinpath("shipped", *parts)
    if packaged.is_file() or packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parents[2].joinpath(*parts)
