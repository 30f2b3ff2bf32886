"""The last row: the keys that do something now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

WAYS_OUT: Final = ("close", "deselect", "leave", "leave_edit", "no", "stop")
"""Actions that end what is open or running."""

WIDE: Final = 90
"""Columns from which on entries stand further apart."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and what it does."""

    key: str
    shown: str
    description: str
    leads_out: bool
    enabled: bool

    @property
    def width(self) -> int:
        return cell_len(self.shown) + 1 + cell_len(self.description)


class KeyBar(Widget):
    """A footer of one widget: Textual's has one for each entry, which were half of all that is styled at a start, and
    are made anew whenever an answer begins or ends. An entry that does not fit is left out whole; the last one, which
    leads to all others, is kept, and so is the way out. A click presses the key."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--description", "key-bar--pointed"}
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[Entry, ...] = ()
        self._pointed: Entry | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self._look)

    def _look(self) -> None:
        if not self.is_attached:  # the screen was closed meanwhile
            return
        found: dict[str, Entry] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and binding.action not in found:
                leads_out = binding.action.rpartition(".")[2] in WAYS_OUT
                shown = self.app.get_key_display(binding)
                found[binding.action] = Entry(binding.key, shown, binding.description, leads_out, active.enabled)
        entries = tuple(found.values())
        if entries != self._entries:
            self._entries = entries
            self.refresh()

    def render(self) -> Content:
        parts: list[tuple[str, Style] | str] = []
        for entry in self._shown():
            ends = "pointed" if entry == self._pointed else "description"
            key, description = (self.get_visual_style(f"key-bar--{name}") for name in ("key", ends))
            if not entry.enabled:
                key, description = key + Style(dim=True), description + Style(dim=True)
            parts += [" " * self._gap * bool(parts), (entry.shown, key), (f" {entry.description}", description)]
        return Content.assemble(*parts)

    def _shown(self) -> list[Entry]:
        widths, kept = [entry.width for entry in self._entries], [entry.leads_out for entry in self._entries]
        fits = fitting(widths, self.content_size.width, self._gap, kept)
        return [entry for entry, fit in zip(self._entries, fits, strict=True) if fit]

    def on_resize(self) -> None:
        self.set_class(self.size.width < WIDE, "-tight")

    @property
    def _gap(self) -> int:
        return 1 if self.has_class("-tight") else 2

    def _at(self, event: events.MouseEvent) -> Entry | None:
        offset, left = event.get_content_offset(self), 0
        if offset is None:
            return None
        for entry in self._shown():
            if left <= offset.x < left + entry.width:
                return entry
            left += entry.width + self._gap
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        entry = self._at(event)
        if entry is not None and entry.enabled:
            self.app.simulate_key(entry.key)
        elif entry is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point(self._at(event))

    def on_leave(self) -> None:
        self._point(None)

    def _point(self, entry: Entry | None) -> None:
        if entry != self._pointed:
            self._pointed = entry
            self.refresh()


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
