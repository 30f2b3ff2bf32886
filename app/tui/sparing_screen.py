"""A screen that is laid out once for what has changed, and painted sparingly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen
from textual.widget import Widget

from app.tui.painting import SparingCompositor

if TYPE_CHECKING:
    from textual.geometry import Size


class SparingScreen(Screen[None]):
    """See the module's text.

    A layout tells each widget how large it is. Textual 8.2.8 takes that for a change that wants another layout, and
    another painting: every line that an answer grows by would be laid out and painted twice. Whatever does depend on
    its size (a scroll bar that comes or goes) asks for itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SparingCompositor()

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        virtual_size: Any = Widget.virtual_size
        virtual_size._layout = virtual_size._repaint = False
        try:
            super()._refresh_layout(size, scroll)
        finally:
            virtual_size._layout = virtual_size._repaint = True
