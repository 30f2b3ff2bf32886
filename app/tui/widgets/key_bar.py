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


class KeyBar(Footer):
    """Textual's footer in our clothes; the palette is one key among the others. An entry that does not fit is left
    out whole; the last one, which leads to all others, is kept."""

    _fitted_for = 0

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        entries: list[Widget] = [*super().compose()]
        width = self.app.size.width
        fits = fitting([_width(entry) for entry in entries], width - 2, gap=1 if width < NARROW else 2)
        yield from (entry for entry, fit in zip(entries, fits, strict=True) if fit)

    async def on_resize(self, event: events.Resize) -> None:
        if event.size.width != self._fitted_for:
            self._fitted_for = event.size.width
            await self.recompose()


def _width(entry: Widget) -> int:
    return len(f"{entry.key_display} {entry.description}") if isinstance(entry, FooterKey) else 0


def fitting(widths: list[int], room: int, gap: int) -> list[bool]:
    """Which of the entries are shown in ``room`` cells."""
    if not widths:
        return []
    room -= widths[-1]
    fits = []
    for width in widths[:-1]:
        fits.append(width + gap <= room)
        if fits[-1]:
            room -= width + gap
    return [*fits, True]
