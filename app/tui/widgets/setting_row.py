"""One row of the settings of a chat, laid out for a width: values at the right of their column, and nothing jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.tui.settings_rows import SLIPSTREAM, SheetRow

MARK: Final = 2
GAP: Final = 3
TITLE: Final = 20
ORIGIN: Final = 16
WIDE: Final = 96
"""Cells from which on there is room for the help."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; 0: it is left out."""

    value: int
    help: int


def columns(width: int) -> Columns:
    """The columns of a row of ``width`` cells."""
    taken = MARK + TITLE + 2 * GAP + ORIGIN
    if width < WIDE:
        return Columns(max(8, min(16, width - taken + GAP)), 0)
    value = 14 if width < 150 else 24
    return Columns(value, width - taken - value)


def heading(words: str) -> Content:
    """The line above a group of rows."""
    return Content.styled(" " * MARK + words, "$faint")


def row(setting: SheetRow, at: Columns) -> Content:
    """The row of one setting. What this chat says otherwise stands out."""
    own = setting.own
    value = Content(clean_line(setting.value, 200)).truncate(at.value, ellipsis=True)
    style = "$accent" if own else "$muted" if setting.origin == SLIPSTREAM else "$foreground"
    origin = Content.styled(clean_line(setting.origin, 60), "$accent" if own else "$faint")
    cells: list[Content | str] = [
        Content.styled("● ", "$accent") if own else " " * MARK,
        Content.styled(label(setting.title), "$foreground").truncate(TITLE, ellipsis=True, pad=True),
        " " * (at.value - value.cell_length),
        value.stylize(style),
        " " * GAP,
        origin.truncate(ORIGIN, ellipsis=True, pad=bool(at.help)),
    ]
    if at.help:
        cells += [" " * GAP, Content.styled(clean_line(setting.help, 200), "$faint").truncate(at.help, ellipsis=True)]
    return Content.assemble(*cells)


def label(title: str) -> str:
    """``top k`` of ``Top k``; ``DRY base`` stays."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
