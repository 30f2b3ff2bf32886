"""The size of what changes twice before it is laid out.

Textual 8.2.8 remembers a widget's size until the widget asks for a layout, and asks once: what changes again while that
layout is pending keeps the size that any other layout gave it meanwhile. The last line of an answer was missing until
the next piece came, or a number was cut by a column. :func:`forget_when_changed` has every such change forget the size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.widget import Widget

if TYPE_CHECKING:
    from textual.geometry import Region

_refresh: Final = Widget.refresh


def forget_when_changed() -> None:
    """For all widgets of this process; a second call changes nothing."""
    Widget.refresh = _refresh_with_new_size  # type: ignore[assignment, method-assign]


def _refresh_with_new_size(self: Widget, *regions: Region, layout: bool = False, **how: bool) -> Widget:
    if self._parent is None:
        layout = False  # it is on no screen; mounting it asks for a layout
    if layout and self._layout_required:
        self._layout_updates += 1
        self.clear_cached_dimensions()
    return _refresh(self, *regions, layout=layout, **how)
