"""What stands one below the other and is as high as it must be: nothing in it depends on how much room there is.

Textual 8.2.8 remembers how large a widget is for one size of what holds it, height included. A growing answer makes all
that holds it higher, and so every block of it, and every turn above it, was measured again at each piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.layout import DockArrangeResult
    from textual.widget import Widget

    _Base = Widget
else:
    _Base = object  # Textual takes a widget's styles from the first base class that is a widget


class HeightFree(_Base):
    """Put it before the kind of widget: what is in it is arranged for its width alone. Heights in percent or parts of
    the room mean nothing to its children."""

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        return super().arrange(size.with_height(0), optimal=optimal)


class Column(HeightFree, Vertical):
    """A column of whatever stands in it."""
