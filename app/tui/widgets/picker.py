"""One of a few is chosen: a heading and a small list, above the composer or below what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.tui.keys import MODES as PICKER_LIST

EDGES: Final = 6
"""Columns beside a row."""

Take = Callable[[events.Event], None]
"""Gets a key or a paste that is text, at once."""


class PickerList(OptionList):
    """A list whose keys the footer shows."""

    BINDINGS: ClassVar[list[BindingType]] = [*PICKER_LIST]
    take: Take | None = None
    """Who gets what is typed while the list has the focus and is no key of it; None: nobody."""

    def _forward_event(self, event: events.Event) -> None:
        """Where the app hands over keys, see ``SelectableTurn``."""
        text = isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
        if self.take is not None and text and not self._bound(event):
            self.take(event)
        else:
            super()._forward_event(event)

    def _bound(self, event: events.Event) -> bool:
        """Whether it is a key of the list, or of what is around it."""
        nodes = (self, self.parent)
        return isinstance(event, events.Key) and any(
            node is not None and event.key in node._bindings.key_to_bindings for node in nodes
        )


class Picker(Vertical):
    """Hidden until it is opened."""

    HEADING: ClassVar[str] = ""
    LIST: ClassVar[type[PickerList]] = PickerList

    class Closed(Message):
        """Nothing was changed."""

    def compose(self) -> ComposeResult:
        yield Static(self.HEADING, classes="heading", markup=False)
        yield self.LIST(compact=True, markup=False)

    def on_mount(self) -> None:
        self.display = False

    @property
    def rows(self) -> PickerList:
        return self.query_one(PickerList)

    def options(self) -> Iterable[Option]:
        """What there is to choose from, as wide as there is room for."""
        raise NotImplementedError

    def show_rows(self, highlighted: int | None) -> None:
        """Draw them anew."""
        self.rows.set_options(self.options())
        self.rows.highlighted = highlighted

    def on_resize(self) -> None:
        """Rows say as much as there is room for."""
        if self.display:
            self.show_rows(self.rows.highlighted)

    def close(self) -> None:
        self.display = False

    def action_close(self) -> None:
        self.post_message(self.Closed())
