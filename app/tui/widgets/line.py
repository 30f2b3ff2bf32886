"""One row of text with something at the left and something at the right."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.widget import Widget

GAP: Final = 2


def split_line(left: Content, right: Content, width: int) -> Content:
    """``left`` and ``right`` at the two ends of ``width`` cells; the left one gives way."""
    if not right:
        return left.truncate(width, ellipsis=True)
    room = max(0, width - right.cell_length - GAP)
    left = left.truncate(room, ellipsis=True)
    return Content.assemble(left, " " * max(GAP, width - left.cell_length - right.cell_length), right).truncate(width)


class Line(Widget):
    """A row that lays itself out for its width. Subclasses give :meth:`parts`."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; }"

    def parts(self, width: int) -> tuple[Content, Content]:
        """Left and right for a row of ``width`` cells."""
        raise NotImplementedError

    def render(self) -> Content:
        width = self.content_size.width
        return split_line(*self.parts(width), width)
