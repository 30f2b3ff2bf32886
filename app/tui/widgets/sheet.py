"""One column of the receipt: sections of labels and values, definitions in small below them, and bars."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from app.bars import LEVELS, level, split
from app.clean import clean_line
from app.percent import percent, written
from app.receipt import duration
from app.receipt_sheet import Drafter, Position, Row, Time

LABEL: Final = 26
"""Columns of labels; values stand behind them."""
LABEL_OF_WORDS: Final = 18
"""The same where values are names and sentences."""
TIME_STYLES: Final = {
    "waiting": "$faint",
    "reading": "$accent",
    "reading, draft": "$accent 70%",
    "drafting": "$warning",
    "verifying": "$accent 45%",
    "choosing": "$muted",
    "other": "$faint 60%",
}
_APART: Final = re.compile(r" {2,}")
"""Between the parts of a value."""
POSITION: Final = 5
"""Columns for each position of a draft."""


class Sheet(Widget):
    """Lays itself out for its width. Subclasses say what stands in it: :meth:`lines`."""

    _drawn: tuple[int, list[Content]] = (0, [])

    def lines(self, width: int) -> list[Content]:
        """The column in ``width`` cells, line by line."""
        raise NotImplementedError

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        if self._drawn[0] != width:
            self._drawn = width, self.lines(width)
        return self._drawn[1]


def heading(title: str, remark: str = "") -> list[Content]:
    return [Content.assemble((title, "bold $foreground"), (f"   {clean_line(remark)}" if remark else "", "$faint"))]


def rows(found: Sequence[Row], width: int, *, label: int = LABEL) -> list[Content]:
    """Label and value in a line, the definition wrapped below. ``label``: columns of the labels."""
    lines: list[Content] = []
    for row in found:
        lines += [*_value(row, width, label), *small(row.meaning, width)]
    return lines


def small(text: str, width: int) -> list[Content]:
    """A definition or a remark, wrapped."""
    return [
        Content.styled(f"  {line}", "$faint") for line in textwrap.wrap(clean_line(text, 2_000), max(20, width - 2))
    ]


def _value(row: Row, width: int, columns: int) -> list[Content]:
    label = row.label.ljust(min(columns, width // 2))
    room = max(10, width - len(label))
    said = ", ".join(clean_line(part, 2_000) for part in _APART.split(row.value))
    values = textwrap.wrap(said, room, drop_whitespace=True) or [""]
    first = Content.assemble((label, "$muted"), (values[0], "$foreground"))
    return [first, *(Content.styled(" " * len(label) + line, "$foreground") for line in values[1:])]


def time_bar(times: Sequence[Time], width: int) -> list[Content]:
    """Where the time went as one bar, and each part of it below."""
    cells = split([part.seconds for part in times], width)
    bar = Content.assemble(*(("█" * count, TIME_STYLES[part.label]) for part, count in zip(times, cells, strict=True)))
    lines = [bar, Content()]
    for part in times:
        label = part.label.ljust(min(LABEL, width // 2) - 2)
        lines.append(
            Content.assemble(
                ("█ ", TIME_STYLES[part.label]),
                (label, "$muted"),
                (f"{duration(part.seconds):>7}  {written(part.share):>5}", "$foreground"),
            )
        )
        lines += small(part.meaning, width)
    return lines


def drafter(found: Drafter, width: int) -> list[Content]:
    """Counts, and small bars for the positions of a draft."""
    lines = [Content.styled(found.name, "$accent"), *rows(found.rows, width)]
    return lines + positions(found.positions, width)


def positions(found: Sequence[Position], width: int) -> list[Content]:
    """Percent accepted by position: what was right of what was looked at. As many as fit."""
    label = "by position"
    indent = min(LABEL, width // 2)
    shown = found[: max(0, (width - indent) // POSITION)]
    if not shown:
        return []
    shares = [percent(place.accepted, place.verified) or 0 for place in shown]
    numbers = "".join(f"{at:<{POSITION}}" for at in range(1, len(shown) + 1))
    bars = "".join(f"{level(share, 100) * 3:<{POSITION}}" for share in shares)
    words = "".join(f"{share:<{POSITION}}" for share in shares)
    return [
        Content.assemble((label.ljust(indent), "$muted"), (numbers, "$faint")),
        Content.assemble(" " * indent, (bars, "$accent 70%")),
        Content.assemble(("  percent accepted".ljust(indent), "$faint"), (words, "$foreground")),
    ]


def pace(rates: Sequence[float], width: int) -> list[Content]:
    """The speed over the answer in two rows, from 0 to the fastest stretch; nothing where there is no room for it."""
    if len(rates) < 2 or width < 1 or max(rates) <= 0:
        return []
    cells = min(width, len(rates)) if len(rates) >= 24 else min(width, 24)
    shown = rates if len(rates) <= cells else [sum(part) / len(part) for part in _chunks(rates, cells)]
    top = max(shown)
    upper, lower = "", ""
    for rate in shown:
        eighths = max(1, round(rate / top * 2 * len(LEVELS)))
        upper += LEVELS[eighths - len(LEVELS) - 1] if eighths > len(LEVELS) else " "
        lower += LEVELS[min(eighths, len(LEVELS)) - 1]
    return [
        Content.assemble((upper, "$accent 70%"), (f"  {top:.1f} at most", "$faint")),
        Content.assemble((lower, "$accent 70%"), (f"  {min(shown):.1f} at least", "$faint")),
    ]


def _chunks(rates: Sequence[float], count: int) -> list[Sequence[float]]:
    return [rates[at * len(rates) // count : (at + 1) * len(rates) // count] for at in range(count)]
