"""How Slipstream looks: one cool accent, one warm colour, three weights of text, thin rules.

``$muted`` and ``$faint`` are the second and third weight; ``$rule`` draws separators, ``$raised`` lies behind code and
boxes, ``$highlight`` behind the row that keys act on; the names of :func:`_signs` are whole styles. A theme that does
not know them gets the defaults of :func:`fallback_variables`, so every theme of Textual can be chosen.
"""

from __future__ import annotations

from typing import Final

from textual.theme import Theme


def _signs(accent: str, warm: str, muted: str, text: str) -> dict[str, str]:
    """Whole styles, since without colours they are something else: what was proposed by lookup, by the draft model,
    and the target's correction; the text behind the first difference of two answers; the curves of a comparison; the
    keywords of code."""
    return {
        "xray-lookup": f"on {accent}",
        "xray-draft": f"on {warm}",
        "xray-corrected": "underline",
        "differing": warm,
        "curve-1": muted,
        "curve-2": accent,
        "curve-3": warm,
        "curve-4": text,
        "code-keyword": accent,
    }


def _theme(
    name: str,
    *,
    dark: bool,
    accent: str,
    warm: str,
    hot: str,
    text: str,
    muted: str,
    faint: str,
    rule: str,
    ground: str,
    raised: str,
    highlight: str = "",
) -> Theme:
    highlight = highlight or raised
    return Theme(
        name=name,
        dark=dark,
        primary=accent,
        secondary=accent,
        accent=accent,
        success=accent,
        warning=warm,
        error=hot,
        foreground=text,
        background=ground,
        surface=ground,
        panel=raised,
        boost=raised,
        variables={
            "muted": muted,
            "faint": faint,
            "rule": rule,
            "raised": raised,
            "highlight": highlight,
            **_signs(accent, warm, muted, text),
            "footer-background": ground,
            "footer-foreground": muted,
            "footer-key-foreground": text,
            "footer-key-background": ground,
            "footer-description-foreground": faint,
            "footer-description-background": ground,
            "footer-item-background": ground,
            "block-cursor-background": highlight,
            "block-cursor-foreground": accent,
            "block-cursor-blurred-background": highlight,
            "block-cursor-blurred-foreground": text,
            "block-cursor-text-style": "none",
            "block-hover-background": raised,
            "input-cursor-background": accent,
            "input-cursor-foreground": ground,
            "input-selection-background": f"{accent} 28%",
            "scrollbar": rule,
            "scrollbar-hover": faint,
            "scrollbar-active": accent,
            "scrollbar-background": ground,
            "scrollbar-background-hover": ground,
            "scrollbar-background-active": ground,
            "scrollbar-corner-color": ground,
            "border": rule,
            "border-blurred": rule,
            "link-color": accent,
            "link-background": ground,
            "link-color-hover": ground,
            "link-background-hover": accent,
            "markdown-h1-color": accent,
            "markdown-h2-color": accent,
            "markdown-h3-color": text,
            "markdown-h4-color": text,
            "markdown-h5-color": muted,
            "markdown-h6-color": muted,
        },
    )


DARK: Final = _theme(
    "slipstream-dark",
    dark=True,
    accent="#5cd6c0",
    warm="#e6ac63",
    hot="#ea8069",
    text="#d8e0df",
    muted="#93a3a5",
    faint="#64757a",
    rule="#253236",
    ground="#0e1315",
    raised="#182124",
)

LIGHT: Final = _theme(
    "slipstream-light",
    dark=False,
    accent="#0a7a6a",
    warm="#96550a",
    hot="#b23c28",
    text="#1c282a",
    muted="#56676a",
    faint="#7f8f92",
    rule="#d5dedd",
    ground="#fbfcfb",
    raised="#eef3f2",
)

HIGH_CONTRAST: Final = _theme(
    "slipstream-high-contrast",
    dark=True,
    accent="#6ff5e0",
    warm="#ffcb70",
    hot="#ffa08c",
    text="#ffffff",
    muted="#d6dddd",
    faint="#b4bfbf",
    rule="#8b9a9a",
    ground="#000000",
    raised="#1c2224",
    highlight="#0b4a43",
)
"""Text and every weight of it at 7:1 or more, which is WCAG's AAA; rules at 3:1 or more."""

WEIGHT: Final = "ansi_bright_black"
"""In the terminal's own colours not a colour, but the sign for dim text: see app/tui/own_colours.py."""
REVERSED: Final = "ansi_bright_white"
"""As a background, the sign for reversed text."""


def _own_colours(name: str, signs: dict[str, str]) -> Theme:
    """The terminal's own foreground and background, and of its palette three colours, as names. Grey is not among
    them: in some palettes it is the background, so the third weight is dim text."""
    return Theme(
        name=name,
        ansi=True,
        dark=True,
        primary="ansi_cyan",
        secondary="ansi_cyan",
        accent="ansi_cyan",
        success="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        variables={
            "muted": "ansi_default",
            "faint": WEIGHT,
            "rule": WEIGHT,
            "raised": "ansi_default",
            "highlight": REVERSED,
            **signs,
            "footer-key-foreground": "ansi_default",
            "footer-description-foreground": WEIGHT,
            "block-cursor-background": REVERSED,
            "block-cursor-foreground": "ansi_default",
            "block-cursor-blurred-background": REVERSED,
            "block-cursor-blurred-foreground": "ansi_default",
            "block-cursor-text-style": "none",
            "block-hover-background": "ansi_default",
            "input-cursor-background": REVERSED,
            "input-cursor-foreground": "ansi_default",
            "input-selection-background": REVERSED,
            "input-selection-foreground": "ansi_default",
            "screen-selection-background": REVERSED,
            "screen-selection-foreground": "ansi_default",
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "scrollbar": WEIGHT,
            "scrollbar-hover": "ansi_default",
            "scrollbar-active": "ansi_cyan",
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
            "border": WEIGHT,
            "border-blurred": WEIGHT,
            "link-color": "ansi_cyan",
            "link-background-hover": "ansi_default",
            "link-color-hover": "ansi_cyan",
            "link-style-hover": "bold underline",
            "markdown-h1-color": "ansi_cyan",
            "markdown-h2-color": "ansi_cyan",
            "markdown-h3-color": "ansi_default",
            "markdown-h4-color": "ansi_default",
            "markdown-h5-color": "ansi_default",
            "markdown-h6-color": "ansi_default",
        },
    )


TERMINAL: Final = _own_colours(
    "slipstream-terminal",
    {
        "xray-lookup": "ansi_black on ansi_cyan",
        "xray-draft": "ansi_black on ansi_yellow",
        "xray-corrected": "underline",
        "differing": "ansi_yellow",
        "curve-1": WEIGHT,
        "curve-2": "ansi_cyan",
        "curve-3": "ansi_yellow",
        "curve-4": "ansi_default",
        "code-keyword": "ansi_cyan",
    },
)

COLOURLESS: Final = _own_colours(
    "slipstream-no-colour",
    {
        "xray-lookup": "reverse",
        "xray-draft": "reverse underline",
        "xray-corrected": "underline",
        "differing": "underline",
        "curve-1": "dim",
        "curve-2": "bold",
        "curve-3": "underline",
        "curve-4": "reverse",
        "code-keyword": "bold",
    },
)
"""In force while NO_COLOR is set, and not to be chosen."""

THEMES: Final = (DARK, LIGHT, HIGH_CONTRAST, TERMINAL)

ABOUT: Final = {
    DARK.name: "calm, on a dark ground",
    LIGHT.name: "the same on a light ground",
    HIGH_CONTRAST.name: "white on black, every text at 7:1 or more",
    TERMINAL.name: "the colours of this terminal, whatever they are",
}
"""One sentence on each theme of our own."""


NO_SUCH_THEME: Final = "settings.toml: there is no theme called {name}; slipstream-dark is used. /theme shows all."


def can_be_chosen(name: str) -> bool:
    """Whether there is a theme of this name, of ours or of Textual's."""
    from textual.theme import BUILTIN_THEMES

    return name in BUILTIN_THEMES or name in ABOUT


def fallback_variables(theme: Theme) -> dict[str, str]:
    """Our own variables in a theme of Textual."""
    if theme.ansi:
        return TERMINAL.variables
    greys = (
        {"muted": "#8a8f98", "faint": "#6b7078", "rule": "#4a4f57", "raised": "#30343b"}
        if theme.dark
        else {"muted": "#575d66", "faint": "#7b818a", "rule": "#c3c7cd", "raised": "#e4e6ea"}
    )
    accent, warm = theme.accent or theme.primary, theme.warning or theme.primary
    signs = _signs(accent, warm, greys["muted"], theme.foreground or accent)
    return {**greys, "highlight": greys["raised"], **signs}
