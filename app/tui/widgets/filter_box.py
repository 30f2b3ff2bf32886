"""A line to type in: what the list is narrowed down to."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from app.clean import clean_line
from app.tui.keys import FILTER


class FilterBox(Input):
    """Input's own ``Changed`` says what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [*FILTER]

    _asks = False

    class Left(Message):
        """Enter or esc: the list gets the keys again."""

        def __init__(self, kept: bool) -> None:
            super().__init__()
            self.kept = kept
            """Enter: what was typed stays in force."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False)

    def ask_for(self, wanted: bool) -> None:
        """Whether enter asks for what was typed, which is not in the list."""
        if wanted != self._asks:
            self._asks = wanted
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (action == "ask") == self._asks if action in ("ask", "submit") else True

    def _on_paste(self, event: events.Paste) -> None:
        """As one cleaned line: Input would take control codes as they come."""
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(clean_line(event.text))

    def action_ask(self) -> None:
        self.post_message(self.Left(kept=True))

    async def action_submit(self) -> None:
        self.post_message(self.Left(kept=True))

    def action_close(self) -> None:
        self.value = ""
        self.post_message(self.Left(kept=False))


class FilterRow(Horizontal):
    """The box with its sign; hidden until :meth:`open`."""

    def __init__(self, box: FilterBox) -> None:
        super().__init__()
        self._box = box

    def compose(self) -> ComposeResult:
        yield Static("/", id="filter-sign", markup=False)
        yield self._box

    def on_mount(self) -> None:
        self.display = False

    def open(self) -> None:
        """Show the box, and let it have the keys."""
        self.display = True
        self.screen.set_focus(self._box)  # now, before the next key: focus() would come later
