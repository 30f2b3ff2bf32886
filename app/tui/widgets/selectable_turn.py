"""What both kinds of turns have in common: they can be selected, and then keys act on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from app.tui.keys import TURN
from app.tui.widgets.column import Column

if TYPE_CHECKING:
    from app.tui.conversation import Turn

SELECTED: Final = "-selected"
EDITED: Final = "-edited"
SENT_FROM: Final = "-sent-from"
LEFT_OUT: Final = "↑ no longer sent: the context is full"

Take = Callable[[events.Event], bool]
"""Takes a key or a paste that is no command of the selected turn; False: it is nobody's."""


def variant_sign(variant: tuple[int, int] | None) -> Content:
    """``‹ 2/3 ›``: the arrows are for the mouse, and faint where they lead nowhere."""
    if variant is None:
        return Content()
    which, many = variant
    back = "[$muted @click=before]‹ [/]" if which > 1 else "[$faint]‹ [/]"
    forth = "[$muted @click=behind] ›[/]" if which < many else "[$faint] ›[/]"
    return Content.from_markup(f"{back}[$muted]{which}/{many}[/]{forth}")


class SelectableTurn(Column):
    """A turn. While it is selected it has the focus, and a bar at its left says so."""

    BINDINGS: ClassVar[list[BindingType]] = [*TURN]

    class Picked(Message):
        """The name above the turn was clicked."""

        def __init__(self, view: SelectableTurn) -> None:
            super().__init__()
            self.view = view

    class SiblingWanted(Message):
        """The variant before (-1) or behind (1) this one was asked for with the mouse."""

        def __init__(self, view: SelectableTurn, step: int) -> None:
            super().__init__()
            self.view = view
            self.step = step

    _take: Take | None = None

    def __init__(self, turn: Turn) -> None:
        super().__init__(classes="turn")
        self.turn = turn

    @classmethod
    def around(cls, widget: Widget) -> SelectableTurn:
        """The turn that ``widget`` is a part of."""
        return next(node for node in widget.ancestors if isinstance(node, SelectableTurn))

    def mark_selected(self, take: Take | None) -> None:
        """Show that this turn is selected, or with None that it no longer is."""
        self._take = take
        self.set_class(take is not None, SELECTED)

    def mark_sent_from(self, message_id: int | None) -> None:
        """Whether nothing above this turn was sent for the last answer; ``message_id``: the oldest that was."""
        begins = message_id is not None and self.turn.message is not None and self.turn.message.id == message_id
        self.set_class(begins, SENT_FROM)
        self.border_title = LEFT_OUT if begins else None

    def allow_focus(self) -> bool:
        """A turn gets the focus by being selected, never by a click that begins to select some of its text."""
        return self._take is not None

    def want_sibling(self, step: int) -> None:
        self.post_message(self.SiblingWanted(self, step))

    def on_click(self, event: events.Click) -> None:
        """Only on the name above the text: who clicks into a window to type there must not find letters to be keys."""
        heading = next(iter(self.children), None)
        if heading is None or event.screen_y != heading.region.y or self.screen.get_selected_text():
            return  # a drag over some words is not meant for the turn, either
        self.post_message(self.Picked(self))

    def _forward_event(self, event: events.Event) -> None:
        """Where the app hands over keys. Deciding here, and not when the key is handled, keeps what is typed in order:
        the key behind the one that leads back to the composer must find it focused."""
        if self._take is None or not isinstance(event, (events.Key, events.Paste)) or not self._take(event):
            super()._forward_event(event)
