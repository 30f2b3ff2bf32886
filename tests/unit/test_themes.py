"""Every text of our own themes can be read: contrasts by WCAG 2's formula."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import Theme

from app.tui.theme import ABOUT, COLOURLESS, DARK, HIGH_CONTRAST, LIGHT, TERMINAL, THEMES, fallback_variables
from app.tui.xray import STYLES

COLOURED = (DARK, LIGHT, HIGH_CONTRAST)


def luminance(colour: Color) -> float:
    channels = [value / 255 for value in colour.rgb]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(front: str, back: str) -> float:
    lighter, darker = sorted((luminance(Color.parse(front)), luminance(Color.parse(back))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def colours(theme: Theme) -> dict[str, str]:
    found = {**theme.to_color_system().generate(), **theme.variables}
    return {
        name: found[name] for name in "foreground muted faint rule accent warning error background raised".split()
    } | {"highlight": theme.variables["highlight"]}


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_texts_stand_out_from_the_ground(theme: Theme) -> None:
    found = colours(theme)
    ground = found["background"]
    assert contrast(found["foreground"], ground) >= 7
    assert contrast(found["muted"], ground) >= 4.5
    assert contrast(found["faint"], ground) >= 3
    assert min(contrast(found[name], ground) for name in ("accent", "warning", "error")) >= 4.5
    for surface in ("raised", "highlight"):
        assert contrast(found["foreground"], found[surface]) >= 7
        assert contrast(found["muted"], found[surface]) >= 4.5


def test_high_contrast_is_high_in_every_weight() -> None:
    found = colours(HIGH_CONTRAST)
    ground = found["background"]
    texts = ("foreground", "muted", "faint", "accent", "warning", "error")
    assert min(contrast(found[name], ground) for name in texts) >= 7
    assert contrast(found["rule"], ground) >= 3
    for surface in ("raised", "highlight"):
        assert min(contrast(found[name], found[surface]) for name in texts) >= 4.5


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_tinted_text_can_be_read(theme: Theme) -> None:
    found = colours(theme)
    for letter, name in (("l", "xray-lookup"), ("d", "xray-draft")):
        tint, share = theme.variables[name].removeprefix("on "), STYLES[letter].split()[1]
        back = Color.parse(found["background"]).blend(Color.parse(tint), int(share.rstrip("%")) / 100)
        assert contrast(found["foreground"], back.hex6) >= 4.5


@pytest.mark.parametrize("theme", [TERMINAL, COLOURLESS], ids=lambda theme: theme.name)
def test_the_terminals_own_colours_are_names(theme: Theme) -> None:
    found = {**theme.to_color_system().generate(), **theme.variables}
    assert [name for name, value in found.items() if "#" in value or "rgb" in value] == []


def test_every_theme_that_can_be_chosen_has_its_sentence() -> None:
    assert [theme.name for theme in THEMES] == [*ABOUT]


def test_our_variables_fit_textuals_own_themes() -> None:
    bright = Theme("bright", primary="#004080", dark=False)
    assert contrast(fallback_variables(bright)["muted"], "#ffffff") >= 4.5
    assert fallback_variables(TERMINAL)["faint"] == "ansi_bright_black"
    assert {*fallback_variables(bright)} == {*fallback_variables(DARK)}
