"""The last row: the keys that do something now."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

NARROW: Final = 90
"""Below this the style sheet puts the entries closer together."""
WAYS_OUT: Final = ("close", "deselect", "leave", "leave_edit", "no", "stop")
"""Actions that end what is open or running."""


class KeyBar(Footer):
    """Textual's footer in our clothes; the palette is one key among the others. An entry that does not fit is left
    out whole; the last one, which leads to all others, is kept, and so is the way out."""

    _fitted_for = 0

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        entries: list[Widget] = [*super().compose()]
        width = self.app.size.width
        kept = [isinstance(entry, FooterKey) and entry.action.rpartition(".")[2] in WAYS_OUT for entry in entries]
        fits = fitting([_width(entry) for entry in entries], width - 2, 1 if width < NARROW else 2, kept)
        yield from (entry for entry, fit in zip(entries, fits, strict=True) if fit)

    async def on_resize(self, event: events.Resize) -> None:
        if event.size.width != self._fitted_for:
            self._fitted_for = event.size.width
            await self.recompose()


def _width(entry: Widget) -> int:
    return len(f"{entry.key_display} {entry.description}") if isinstance(entry, FooterKey) else 0


def fitting(widths: list[int], room: int, gap: int, kept: list[bool]) -> list[bool]:
    """Which of the entries are shown in ``room`` cells: the last and those that are ``kept``, then as many others as
    fit, from the first on."""
    fits = [*kept[:-1], True] if widths else []
    room -= sum(width for width, fit in zip(widths, fits, strict=True) if fit) + gap * (sum(fits) - 1)
    for place, width in enumerate(widths):
        if not fits[place] and width + gap <= room:
            fits[place] = True
            room -= width + gap
    return fits
