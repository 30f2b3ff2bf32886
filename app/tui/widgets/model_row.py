"""One row of the list of models, laid out for a width: numbers at the right of their columns, and nothing jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.library.records import FAULTY, Entry, Getting, Phase
from app.library.words import SILENT, left_words, percent, rate_words, size_cell, speed_words, state_words
from app.percent import written
from app.tui.whole_words import whole_words

WIDE: Final = 98
"""Cells from which on there is room for every column."""
NARROW: Final = 64
"""Below this only name and state are left."""
MOVING: Final = 23
"""Cells of ``100 %   12 MB/s    3 min``."""
MARK: Final = 2
GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; 0: it is left out."""

    title: int
    size: int
    memory: int
    speed: int
    state: int


def columns(width: int) -> Columns:
    """The columns of a row of ``width`` cells."""
    if width >= WIDE:
        numbers = (9, 9, 17)
        title = min(56, max(34, width - 82))
    elif width >= NARROW:
        numbers = (8, 8, 0)
        title = max(20, width - MARK - GAP - 16 - 30)
    else:
        numbers = (0, 0, 0)
        title = max(12, width - MARK - GAP - MOVING)
    return Columns(title, *numbers, state=max(8, width - MARK - GAP - title - sum(numbers)))


def heading(at: Columns) -> Content:
    """The names of the columns."""
    cells = ["model".ljust(at.title)]
    named = ((at.size, "size"), (at.memory, "memory"), (at.speed, "speed here"))
    cells += [name.rjust(width) for width, name in named if width]
    return Content.styled(" " * MARK + "".join(cells) + " " * GAP + "state", "$faint")


def row(entry: Entry, at: Columns, *, use: str = "", getting: Getting | None = None) -> Content:
    """The row of ``entry``. ``use``: how it is used now; ``getting``: its download, if there is one."""
    title = Content.styled(clean_line(entry.title, 120), "$foreground" if entry.usable else "$muted")
    size = getting.total if entry.size is None and getting is not None else entry.size
    numbers = (
        (at.size, size_cell(size), "$muted"),
        (at.memory, size_cell(entry.memory), "$warning" if entry.fits is False else "$muted"),
        (at.speed, speed_words(entry), "$muted"),
    )
    state = _moving(getting, at.state) if getting else _resting(entry, use, at.state)
    return Content.assemble(
        _mark(use, getting),
        title.truncate(at.title, ellipsis=True, pad=True),
        *(Content.styled(words.rjust(width)[:width], style) for width, words, style in numbers if width),
        " " * GAP,
        state.truncate(at.state, ellipsis=True),
    )


def section(place: str) -> Content:
    """The line above the files of one place."""
    return Content.styled(" " * MARK + clean_line(place, 100), "$faint")


def _mark(use: str, getting: Getting | None) -> Content:
    if use:
        return Content.styled("● ", "$accent")
    return Content.styled("↓ ", "$accent") if getting and getting.running else Content(" " * MARK)


def _resting(entry: Entry, use: str, width: int) -> Content:
    words = whole_words(clean_line(state_words(entry), 100), width)
    if use:
        return Content.styled(use, "$accent")
    if entry.state in FAULTY or entry.fits is False:
        return Content.styled(words, "$warning")
    return Content.styled(words, "$muted" if entry.usable else "$faint")


def _moving(getting: Getting, width: int) -> Content:
    """``▇▇▇▁▁▁▁▁  41 %   12 MB/s   3 min``; the bar goes where there is no room."""
    cells = 8 if width >= 40 else 6 if width >= 28 else 0
    filled = min(cells, max(1 if getting.done and cells else 0, int(getting.share * cells)))
    warm = getting.phase in (Phase.FAILED, Phase.STALLED) or getting.silent
    bar = [("▇" * filled, "$warning" if warm else "$accent"), ("▁" * (cells - filled), "$faint")]
    share = f"{' ' * bool(cells)}{written(percent(getting)):>5}"
    if getting.silent:
        rest = f"  {SILENT}"
    elif getting.phase is Phase.FETCHING:
        rest = f"  {rate_words(getting.speed):>8}  {left_words(getting.left):>6}"
    else:
        rest = f"  {getting.phase}"
    return Content.assemble(*bar, (share, "$foreground"), (rest, "$warning" if warm else "$muted"))
