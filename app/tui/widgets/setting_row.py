"""One row of the settings of a chat, laid out for a width: values at the right of their column, and nothing jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.tui.settings_rows import SLIPSTREAM, SheetRow
from app.tui.whole_words import whole_words

MARK: Final = 2
GAP: Final = 3
TITLE: Final = 20
ORIGIN: Final = 16
SHORT_TITLE: Final = 18
NARROW: Final = 50
"""Cells below which titles give way to what is said of where a value comes from."""
WIDE: Final = 96
"""Cells from which on there is room for the help."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; 0: it is left out."""

    title: int
    value: int
    origin: int
    help: int


def columns(width: int) -> Columns:
    """The columns of a row of ``width`` cells."""
    title = TITLE if width >= NARROW else SHORT_TITLE
    taken = MARK + title + 2 * GAP + ORIGIN
    if width < WIDE:
        value = max(8, min(16, width - taken + GAP))
        return Columns(title, value, min(ORIGIN, width - MARK - title - value - GAP), 0)
    value = 14 if width < 150 else 24
    return Columns(title, value, ORIGIN, width - taken - value)


def heading(words: str) -> Content:
    """The line above a group of rows."""
    return Content.styled(" " * MARK + words, "$faint")


def row(setting: SheetRow, at: Columns) -> Content:
    """The row of one setting. What this chat says otherwise stands out."""
    own = setting.own
    value = Content(clean_line(setting.value, 200)).truncate(at.value, ellipsis=True)
    style = "$accent" if own else "$muted" if setting.origin == SLIPSTREAM else "$foreground"
    origin = Content.styled(whole_words(clean_line(setting.origin, 60), at.origin), "$accent" if own else "$faint")
    cells: list[Content | str] = [
        Content.styled("● ", "$accent") if own else " " * MARK,
        Content.styled(whole_words(label(setting.title), at.title), "$foreground").truncate(at.title, pad=True),
        " " * (at.value - value.cell_length),
        value.stylize(style),
        " " * GAP,
        origin.truncate(at.origin, pad=bool(at.help)),
    ]
    if at.help:
        cells += [" " * GAP, Content.styled(whole_words(clean_line(setting.help, 200), at.help), "$faint")]
    return Content.assemble(*cells)


def label(title: str) -> str:
    """``top k`` of ``Top k``; ``DRY base`` stays."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
