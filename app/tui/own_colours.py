"""The terminal's own colours, and no colours at all: how the signs of the theme become what a terminal knows.

A theme gives every widget a colour, but of the terminal's palette only few names can be relied on: grey is invisible in
some, and there is no name for "a little raised". So two names stand for weights (app/tui/theme.py): ``WEIGHT`` becomes
dim text, and a ``REVERSED`` background reversed text, which every terminal has.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from app.tui.theme import REVERSED, WEIGHT

_WEIGHT: Final = Color.parse(WEIGHT).rich_color.number
_REVERSED: Final = Color.parse(REVERSED).rich_color.number


def colours_unwanted() -> bool:
    """Whether the user has set NO_COLOR to anything but nothing (no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


class OwnColours(LineFilter):
    """The last thing that happens to what is drawn, for a theme in the terminal's own colours."""

    def __init__(self, *, colourless: bool) -> None:
        """``colourless``: only weights are left; what had a background of its own is reversed."""
        super().__init__()
        self._colourless = colourless

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, style and _translated(style, self._colourless), control) for text, style, control in segments
        ]


@lru_cache(4096)
def _translated(style: Style, colourless: bool) -> Style:
    """``style`` without the signs; its attributes, link and what the mouse finds there stay."""
    front, back = style.color, style.bgcolor
    raised = back is not None and (back.number == _REVERSED or (colourless and not back.is_default))
    dim = front is not None and front.number == _WEIGHT and not raised
    plain = style.without_color
    if style.meta:
        plain += Style.from_meta(style.meta)
    if raised:
        return plain + Style(reverse=True, dim=False)
    if dim and style.reverse and not colourless:
        return plain + Style(color=front)  # a scroll bar: where dim text would not show, the palette's grey may
    if dim:
        plain += Style(dim=True)
    if colourless:
        return plain
    return plain + Style(color=None if dim else _named(front), bgcolor=_named(back))


def _named(colour: RichColor | None) -> RichColor | None:
    """None for the terminal's default, which needs no code."""
    return None if colour is None or colour.is_default else colour
