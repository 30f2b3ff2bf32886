"""In 256 colours the row that keys act on is another colour than the ground, in every theme."""

from __future__ import annotations

import pytest
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from app.tui.few_colours import apart, told_apart
from app.tui.theme import DARK, HIGH_CONTRAST, LIGHT, fallback_variables
from tests.unit.test_themes import contrast

COLOURED = [DARK, LIGHT, HIGH_CONTRAST, *(theme for theme in BUILTIN_THEMES.values() if not theme.ansi)]


def variables(theme: Theme) -> dict[str, str]:
    return {**fallback_variables(theme), **theme.to_color_system().generate(), **theme.variables}


def drawn(colour: str) -> str:
    """By Rich, which draws for Textual."""
    return Color.parse(colour).rich_color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_the_row_is_not_the_ground(theme: Theme) -> None:
    found = told_apart(variables(theme))
    assert drawn(found["highlight"]) != drawn(found["background"])


@pytest.mark.parametrize("theme", [DARK, LIGHT, HIGH_CONTRAST], ids=lambda theme: theme.name)
def test_in_our_own_themes_it_is_a_calm_one_that_texts_stand_out_from(theme: Theme) -> None:
    found = told_apart(variables(theme))
    assert found["block-cursor-background"] == found["block-cursor-blurred-background"] == found["highlight"]
    row = drawn(found["highlight"])
    for name, at_least in (("foreground", 7), ("muted", 4.5), ("accent", 3)):
        assert contrast(drawn(found[name]), row) >= at_least
    assert contrast(row, theme.variables["highlight"]) < 1.4


def test_what_can_be_told_apart_stays_as_it_is() -> None:
    assert apart("#0b4a43", "#000000") == "#0b4a43"
    assert apart("#182124", "#0e1315") != "#182124"
    assert apart("auto 87%", "#000000") == "auto 87%"
    assert apart("#ffffff 10%", "#ffffff") == "#ffffff 10%"
