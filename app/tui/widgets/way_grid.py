"""The ways to answer as a grid: a row for each proposer, a column for each longest draft, marks where one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.widget import Widget

from app.clean import clean_line
from app.compare.ways import Way
from app.tui.keys import WAY_GRID
from app.tui.whole_words import whole_words
from engine.protocol import SpeculationMode

LENGTHS: Final[tuple[int | None, ...]] = (None, 2, 4, 8, 16)
"""Longest drafts; None: as long as the engine finds right."""
LEAST: Final = 2
MOST: Final = 4
"""Ways that are compared at once."""
SHORT_NAME: Final = 10
NAME: Final = 26
CELL: Final = 7
INDENT: Final = 2


@dataclass(frozen=True, slots=True)
class WayRow:
    """Who proposes. ``draft``: path of another draft than the loaded one; ``reason``: why it is not possible here."""

    mode: SpeculationMode
    name: str
    words: str
    draft: str | None = None
    reason: str | None = None


class WayGrid(Widget, can_focus=True):
    """Arrow keys move, space or a click chooses. Says :class:`Changed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*WAY_GRID]
    DEFAULT_CSS = "WayGrid { height: auto; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }"

    class Changed(Message):
        """Another set of ways is chosen; ``refused``: one more was wanted than can be compared."""

        def __init__(self, *, refused: bool = False) -> None:
            super().__init__()
            self.refused = refused

    def __init__(self, rows: Sequence[WayRow], chosen: Sequence[Way]) -> None:
        super().__init__()
        self._rows = list(rows)
        self._chosen = set(chosen)
        more = {way.draft_max for way in chosen} - {*LENGTHS}
        self._lengths = (None, *sorted(length for length in {*LENGTHS, *more} if length is not None))
        self._cursor = (next((at for at, row in enumerate(self._rows) if row.mode == "lookup"), 0), 0)

    @property
    def chosen(self) -> tuple[Way, ...]:
        """From the top to the bottom and from the left to the right; the first is what the others are held against."""
        ways = [way for row in self._rows for way in self._ways(row)]
        shown = [way for way in ways if way in self._chosen]
        others = self._chosen - {*ways}  # their draft is still being looked for
        return (*shown, *sorted(others, key=lambda way: way.label))

    def add_rows(self, rows: Sequence[WayRow]) -> None:
        """More proposers, below the others."""
        self._rows += rows
        self.refresh(layout=True)

    def _ways(self, row: WayRow) -> tuple[Way, ...]:
        """A column each; without a proposer a draft has no length."""
        if row.reason is not None:
            return ()
        return tuple(Way(row.mode, length, row.draft) for length in (self._lengths if row.mode != "off" else (None,)))

    # ------------------------------------------------------------------------------------------------------- keys

    def action_move(self, where: str) -> None:
        """``up``, ``down``, ``left`` or ``right``; rows that are not possible are passed over."""
        row, column = self._cursor
        if where in ("left", "right"):
            last = len(self._ways(self._rows[row])) - 1
            column = max(0, min(min(column, last) + (1 if where == "right" else -1), last))
        else:
            step = 1 if where == "down" else -1
            possible = [at for at, each in enumerate(self._rows) if self._ways(each) and (at - row) * step > 0]
            row = min(possible, key=lambda at: abs(at - row), default=row)
        self._cursor = row, column
        self.refresh()
        if isinstance(self.parent, VerticalScroll):
            self.parent.scroll_to_region(Region(0, row + 1, 1, 1), animate=False)

    def action_choose(self) -> None:
        row, column = self._cursor
        if ways := self._ways(self._rows[row]):
            self._toggle(ways[min(column, len(ways) - 1)])

    def on_click(self, event: events.Click) -> None:
        row, column = event.y - 1, (event.x - INDENT - self._name_cells) // CELL
        if 0 <= row < len(self._rows) and 0 <= column < len(ways := self._ways(self._rows[row])):
            self._cursor = row, column
            self._toggle(ways[column])

    def _toggle(self, way: Way) -> None:
        full = way not in self._chosen and len(self._chosen) >= MOST
        if not full:
            self._chosen ^= {way}
        self.refresh()
        self.post_message(self.Changed(refused=full))

    # ---------------------------------------------------------------------------------------------------- drawing

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows) + 1

    @property
    def _name_cells(self) -> int:
        """Columns of the names: less of them where the lengths would not all fit."""
        return max(SHORT_NAME, min(NAME, self.content_size.width - INDENT - CELL * len(self._lengths)))

    def render(self) -> Content:
        titles = "".join(f"{'usual' if length is None else length:^{CELL}}" for length in self._lengths)
        head = Content.styled(" " * (INDENT + self._name_cells) + titles, "$faint")
        return Content("\n").join([head, *(self._row(at, row) for at, row in enumerate(self._rows))])

    def _row(self, at: int, row: WayRow) -> Content:
        name = clean_line(row.name, self._name_cells - 1).ljust(self._name_cells)
        if row.reason is not None:
            room = max(0, self.content_size.width - INDENT - self._name_cells - 4)
            reason = (whole_words(clean_line(row.reason, 90), room), "$muted")
            return Content.assemble(" " * INDENT, (name, "$faint"), ("  ✕ ", "$warning"), reason)
        ways = self._ways(row)
        cells = [self._cell(way, here=self._is_here(at, column, len(ways))) for column, way in enumerate(ways)]
        gap = " " * CELL * (len(self._lengths) - len(cells))
        style = "$foreground" if at == self._cursor[0] else "$muted"
        words = f"  {row.words}" if self._has_room_for_words else ""
        return Content.assemble(" " * INDENT, (name, style), *cells, gap, (words, "$faint"))

    @property
    def _has_room_for_words(self) -> bool:
        """Behind the marks: for all of them, or for none."""
        room = self.content_size.width - INDENT - self._name_cells - CELL * len(self._lengths)
        return room >= 2 + max(len(row.words) for row in self._rows)

    def _is_here(self, row: int, column: int, columns: int) -> bool:
        return self.has_focus and (row, column) == (self._cursor[0], min(self._cursor[1], columns - 1))

    def _cell(self, way: Way, *, here: bool) -> Content:
        mark, style = ("●", "$accent") if way in self._chosen else ("○", "$muted")
        if here:
            return Content.assemble("  ", (f" {mark} ", f"{style} on $raised"), "  ")
        return Content.styled(f"{mark:^{CELL}}", style)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
