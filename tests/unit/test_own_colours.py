"""The terminal's own colours, and none: signs of the theme become weights, and what the mouse finds stays."""

from __future__ import annotations

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from app.tui.own_colours import OwnColours, colours_unwanted

GROUND = Color.parse("ansi_default")


def drawn(style: Style, *, colourless: bool = False) -> str:
    """The codes that a terminal gets."""
    (segment,) = OwnColours(colourless=colourless).apply([Segment("x", style)], GROUND)
    assert segment.style is not None
    return segment.style._make_ansi_codes(ColorSystem.TRUECOLOR)


def test_faint_text_is_dim_and_a_highlighted_row_reversed() -> None:
    assert drawn(Style.parse("bright_black")) == "2"
    assert drawn(Style.parse("cyan on default")) == "36"
    assert drawn(Style.parse("bold default on default")) == "1"
    assert drawn(Style.parse("cyan on bright_white")) == "7"
    assert drawn(Style.parse("bold bright_black on bright_white")) == "1;7"
    assert drawn(Style.parse("black on cyan")) == "30;46"


def test_without_colours_only_weights_are_left() -> None:
    assert drawn(Style.parse("red"), colourless=True) == ""
    assert drawn(Style.parse("bold underline cyan on default"), colourless=True) == "1;4"
    assert drawn(Style.parse("bright_black"), colourless=True) == "2"
    assert drawn(Style.parse("red on cyan"), colourless=True) == "7"
    assert drawn(Style.parse("#ff0000 on #00ff00"), colourless=True) == "7"


def test_links_and_what_the_mouse_finds_stay() -> None:
    style = Style.parse("cyan link https://a.b") + Style.from_meta({"@click": "before"})
    (segment,) = OwnColours(colourless=True).apply([Segment("x", style)], GROUND)
    assert segment.style is not None
    assert segment.style.link == "https://a.b"
    assert segment.style.meta == {"@click": "before"}


def test_segments_without_a_style_stay_as_they_are() -> None:
    segments = [Segment("x"), Segment("y", Style.null())]
    assert OwnColours(colourless=True).apply(segments, GROUND) == segments


@pytest.mark.parametrize(("value", "unwanted"), [(None, False), ("", False), ("1", True), ("0", True)])
def test_no_color_counts_where_it_says_something(
    monkeypatch: pytest.MonkeyPatch, value: str | None, unwanted: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if value is not None:
        monkeypatch.setenv("NO_COLOR", value)
    assert colours_unwanted() is unwanted
