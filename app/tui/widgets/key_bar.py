"""The last row: the keys that do something now."""

from __future__ import annotations

from textual.widgets import Footer


class KeyBar(Footer):
    """Textual's footer in our clothes; the palette is one key among the others."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
