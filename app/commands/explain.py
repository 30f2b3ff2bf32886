"""``slipstream help figures``: every figure's one definition. ``slipstream help settings``: every setting's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from app.commands.stdout import print_text
from app.receipt import EXPLAINED
from app.settings import default_file
from engine.stats import FACTORS, FIGURES, factor_words

SHOWN_AS: Final = {"factor": "compare: 1.31x", "mean_factor": "bench and score"}
"""Where the figures of several runs stand."""


def print_figures() -> None:
    """On stdout, in the order in which the engine defines them, with the words that stand for them beside answers."""
    width = max(map(len, FIGURES))
    for name, words in _figures():
        lines = textwrap.wrap(words, 110 - width)
        print_text("\n".join([f"{name:<{width}}  {lines[0]}", *(f"{'':<{width}}  {line}" for line in lines[1:])]))


def _figures() -> Iterator[tuple[str, str]]:
    """Those of an answer, then those of several."""
    shown = {figure: words for words, figure in EXPLAINED}
    for name, meaning in FIGURES.items():
        yield name, f"{meaning} (under an answer: {shown[name]})" if name in shown else meaning
    for name in FACTORS:
        yield name, f"{factor_words(name)} (in {SHOWN_AS[name]})"


def print_settings() -> None:
    """On stdout, as a settings.toml in which everything is commented out."""
    print_text(default_file().rstrip())
