"""``slipstream help figures``: every figure's one definition."""

from __future__ import annotations

import textwrap

from app.commands.stdout import print_text
from engine.stats import FIGURES


def print_figures() -> None:
    """On stdout, in the order in which the engine defines them."""
    width = max(map(len, FIGURES))
    for name, words in FIGURES.items():
        lines = textwrap.wrap(words, 110 - width)
        print_text("\n".join([f"{name:<{width}}  {lines[0]}", *(f"{'':<{width}}  {line}" for line in lines[1:])]))
