"""What is painted of a screen: only what is seen of it, and what is new.

An answer stands in a list, in Markdown, in a turn, in a transcript, and so on: nine widgets one behind the other. Of
each, Textual 8.2.8 renders and cuts every line in view, at every frame, and then keeps what the one in front of it has
left. Here a widget is asked for the lines that are not covered yet, and its lines are those of the last time where it
has not made others since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import is_
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from textual._compositor import Compositor, ReflowResult
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.filter import LineFilter

Chops = list[dict[int, Strip | None]]
"""What is painted, by line and by the column where a piece begins; None: nothing yet."""

KNOWN: Final = 512
"""Widgets whose lines are kept, at most: more than a screen shows."""


class Rendered(NamedTuple):
    """Lines of a widget."""

    crop: Region
    filters: Sequence[LineFilter]
    made: list[Strip]
    """What the widget made, before filters and cuts."""
    strips: list[Strip]


class SparingCompositor(Compositor):
    """Textual's compositor, with another way to the same picture."""

    def __init__(self) -> None:
        super().__init__()
        self._rendered: dict[Widget, Rendered] = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out all of ``parent``. What was mounted since the last time is placed now, too; Textual would do it again
        when the first widget is asked where it is."""
        result = super().reflow(parent, size)
        self._full_map_invalidated = False
        return result

    def clear(self) -> None:
        """The screen is left."""
        super().clear()
        self._rendered.clear()

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """The pieces of every line in ``crop`` for which ``is_rendered_line``, as Textual's."""
        cuts = self.cuts
        chops: Chops = [dict.fromkeys(line[:-1]) for line in cuts]
        bare = {y: _pieces(cuts[y], crop) for y in crop.line_range if is_rendered_line(y)}
        """Where pieces begin that are to be painted yet, by line; a line without any is not in it."""
        if len(self._rendered) > KNOWN:
            self._rendered.clear()
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            lines = [y for y in seen.line_range if any(seen.x <= x < seen.right for x in bare.get(y, ()))]
            if not lines:
                continue
            first, last = lines[0], lines[-1]
            wanted = Region(seen.x - region.x, first - region.y, seen.width, last + 1 - first)
            strips = self._lines_of(widget, wanted, region.width)
            for y in lines:
                _paint(chops[y], bare[y], cuts[y], seen, strips[y - first])
                if not bare[y]:
                    del bare[y]
            if not bare:
                break
        return cast("Sequence[Mapping[int, Strip]]", chops)

    def _lines_of(self, widget: Widget, crop: Region, width: int) -> list[Strip]:
        """What ``widget``, so wide, shows in ``crop``. What is kept is one object for as long as it is the same."""
        if widget.BLANK or type(widget).render_lines is not Widget.render_lines:
            return widget.render_lines(crop)
        filters, made = widget.get_line_filters(), _made(widget, crop, width)
        known = self._rendered.get(widget)
        if made and known and known.crop == crop and known.filters == filters and all(map(is_, made, known.made)):
            return known.strips
        strips = widget.render_lines(crop)
        self._rendered[widget] = Rendered(crop, filters, _made(widget, crop, width), strips)
        return strips


def _made(widget: Widget, crop: Region, width: int) -> list[Strip]:
    """The lines that the widget has and need not make again; empty: not all."""
    cache = widget._styles_cache
    if cache._width != width or not cache._dirty_lines.isdisjoint(crop.line_range):
        return []
    made = [cache._cache.get(y) for y in crop.line_range]
    return [] if None in made else cast("list[Strip]", made)


def _pieces(cuts: list[int], crop: Region) -> set[int]:
    """Where the pieces of a line begin of which something is in ``crop``."""
    return {start for start, end in pairwise(cuts) if start < crop.right and end > crop.x}


def _paint(line: dict[int, Strip | None], bare: set[int], cuts: list[int], seen: Region, strip: Strip) -> None:
    """Put the pieces of ``strip``, which begins at the left of ``seen``, where there is nothing."""
    within = [cut for cut in cuts if seen.x <= cut <= seen.right]
    for cut, piece in zip(within, strip.divide([cut - seen.x for cut in within[1:]]), strict=False):
        if cut in bare:
            line[cut] = piece
            bare.discard(cut)
