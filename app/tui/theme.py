"""How Slipstream looks: one cool accent, one warm colour, three weights of text, thin rules.

``$muted`` and ``$faint`` are the second and third weight; ``$rule`` draws separators. A theme that does not know them
gets the defaults of :func:`fallback_variables`, so every theme of Textual can be chosen.
"""

from __future__ import annotations

from typing import Final

from textual.theme import Theme


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
) -> Theme:
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
            "footer-background": ground,
            "footer-foreground": muted,
            "footer-key-foreground": text,
            "footer-key-background": ground,
            "footer-description-foreground": faint,
            "footer-description-background": ground,
            "footer-item-background": ground,
            "block-cursor-background": raised,
            "block-cursor-foreground": accent,
            "block-cursor-blurred-background": raised,
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


THEMES: Final = (DARK, LIGHT)


def fallback_variables() -> dict[str, str]:
    """Our own variables in the colours every Textual theme has."""
    return {"muted": "#8a8f98", "faint": "#6b7078", "rule": "#4a4f57", "raised": "#30343b"}
