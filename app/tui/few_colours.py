"""Terminals of 256 colours: all others are rounded to those, and two that are close become the same one.

The ground and the row that keys act on are close on purpose. Where they would be one colour, the row takes the nearest
grey that is another; where there are all colours nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.palette import Palette
from textual.color import Color, ColorParseError

_GREYS: Final = tuple(Color(level, level, level) for level in range(256))
_ROWS: Final = ("highlight", "block-cursor-background", "block-cursor-blurred-background")
"""Variables of a theme that lie behind such a row."""


def told_apart(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a theme, its highlighted rows in a colour that is not rounded to the ground's."""
    ground = variables["background"]
    return {**variables, **{name: apart(variables[name], ground) for name in _ROWS if name in variables}}


def apart(colour: str, ground: str) -> str:
    """``colour``, or a grey that is drawn as the nearest one that is not the ``ground``'s. What is no plain colour
    stays."""
    try:
        wanted, below = Color.parse(colour), Color.parse(ground)
    except ColorParseError:
        return colour
    if wanted.a < 1 or below.a < 1 or drawn(wanted) != drawn(below):
        return colour
    others = [grey for grey in _GREYS if drawn(grey) != drawn(below)]
    return others[Palette([drawn(grey) for grey in others]).match(wanted.rgb)].hex


def drawn(colour: Color) -> ColorTriplet:
    """Which of the 256 is seen in its place."""
    return colour.rich_color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
