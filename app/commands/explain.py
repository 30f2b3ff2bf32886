"""``slipstream help figures``: every figure's one definition. ``slipstream help settings``: every setting's."""

from __future__ import annotations

import textwrap

from app.commands.stdout import print_text
from app.receipt import EXPLAINED
from app.settings import default_file
from engine.stats import FIGURES


def print_figures() -> None:
    """On stdout, in the order in which the engine defines them, with the words that stand for them beside answers."""
    width = max(map(len, FIGURES))
    shown = {figure: words for words, figure in EXPLAINED}
    for name, meaning in FIGURES.items():
        words = f"{meaning} (under an answer: {shown[name]})" if name in shown else meaning
        lines = textwrap.wrap(words, 110 - width)
        print_text("\n".join([f"{name:<{width}}  {lines[0]}", *(f"{'':<{width}}  {line}" for line in lines[1:])]))


def print_settings() -> None:
    """On stdout, as a settings.toml in which everything is commented out."""
    print_text(default_file().rstrip())
