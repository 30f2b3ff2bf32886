"""Where the user writes: grows with the text, enter sends, a paste is one text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.message import Message

from app.tui.keys import COMPOSER
from app.tui.on_its_way import OnItsWay
from app.tui.stand_ins import is_control
from app.tui.widgets.folding_area import FoldingArea

GUIDED_KEYS: Final = ("up", "down", "tab", "enter", "escape")


class Composer(FoldingArea):
    """A text area for one message."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMPOSER]

    class Sent(Message):
        """Enter was pressed. Whoever takes the text calls :meth:`Composer.take`; otherwise it stays, and
        ``on_its_way`` is told so. Until then what is typed behind enter waits."""

        def __init__(self, on_its_way: OnItsWay) -> None:
            super().__init__()
            self.on_its_way = on_its_way

    class Scrolled(Message):
        """A key for the transcript: ``page_up``, ``page_down``, ``home`` or ``end``."""

        def __init__(self, where: str) -> None:
            super().__init__()
            self.where = where

    def __init__(self) -> None:
        self.guide: Callable[[str], bool] = lambda key: False
        """Asked first about each of the keys in GUIDED_KEYS; True: it was taken, by a list that completes words."""
        self.recall: Callable[[bool], bool] = lambda older: False
        """Called at the first line for an older text, at the last one for a newer text; False: there is none."""
        self._on_its_way: OnItsWay | None = None
        super().__init__(
            soft_wrap=True,
            compact=True,
            highlight_cursor_line=False,
            placeholder="type a message",
            id="composer",
        )

    @property
    def keeps_height(self) -> bool:
        """Whether the text has room in the rows that it was given, or can have no more."""
        rows, most = max(1, self.wrapped_document.height), self._extrema.max_height
        return self.size.height == (rows if most is None else min(rows, int(most)))

    # ------------------------------------------------------------------------------------------------------ sending

    def take(self) -> str:
        """The text, and the composer is empty."""
        text = super().take()
        if self._on_its_way is not None:
            self._on_its_way.decide()
        return text

    def hold(self) -> OnItsWay:
        """The text is to be taken now: what is typed from here on waits until that is decided, and stands behind it."""
        self._on_its_way = OnItsWay()
        return self._on_its_way

    async def _wait_for_sent(self, *, writes: bool) -> None:
        """Wait for what is on its way. ``writes``: something is written now, on a line of its own where the text came
        to stay or another one came back."""
        waited = self._on_its_way is not None and await self._on_its_way.wait()
        if waited and writes and self.typed.strip():
            self.move_cursor(self.document.end)
            self.insert_text("\n")

    # --------------------------------------------------------------------------------------------------------- keys

    async def _on_key(self, event: events.Key) -> None:
        """Before TextArea sees the key. What a binding of the composer does is done here: otherwise the app would look
        it up, and the text that was typed behind the key would overtake it on the way there."""
        if await self._stops_sent(event):
            event.stop()
            event.prevent_default()
            return
        await self._wait_for_sent(writes=event.is_printable)
        if event.is_printable:
            return
        if not (event.key in GUIDED_KEYS and self.guide(event.key)) and not await self._act(event.key):
            if not event.character or is_control(event.character):
                return
            self.insert_text(event.character)  # joiners, no-break spaces, characters newer than Python's tables
        event.stop()
        event.prevent_default()

    async def _stops_sent(self, event: events.Key) -> bool:
        """Whether this was a key like esc right behind enter. The screen was asked about it before there was anything
        to stop; it is asked again when there is."""
        sent = self._on_its_way
        if event.is_printable or sent is None or not self._comes_first(event.key) or not await sent.wait_for_end():
            return False
        return await self.app._check_bindings(event.key, priority=True)

    def _comes_first(self, key: str) -> bool:
        """Whether the screen or the app has an action for this key that comes before the composer's own."""
        return any(
            binding.priority
            for _, bindings in self.screen._binding_chain
            for binding in bindings.key_to_bindings.get(key, ())
        )

    async def _act(self, key: str) -> bool:
        """Do what this key is bound to here, by default or as the user has it; whether there was anything."""
        for binding in self._bindings.key_to_bindings.get(key, ()):
            if not binding.priority and await self.app.run_action(binding.action, self):
                return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        await self._wait_for_sent(writes=True)
        self.insert_text(event.text)
        self.focus()

    def action_cursor_up(self, select: bool = False) -> None:
        at_top = not select and self.navigator.is_first_wrapped_line(self.cursor_location)
        if not (at_top and self.recall(True)):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        at_bottom = not select and self.navigator.is_last_wrapped_line(self.cursor_location)
        if not (at_bottom and self.recall(False)):
            super().action_cursor_down(select)

    def action_cursor_line_end(self, select: bool = False) -> None:
        if not select and self.cursor_at_end_of_text:
            self.post_message(self.Scrolled("end"))
        super().action_cursor_line_end(select)

    def action_send(self) -> None:
        """Told to the screen itself: in this widget's own queue the keys behind enter would come first."""
        self.screen.post_message(self.Sent(self.hold()))

    def action_new_line(self) -> None:
        self.insert_text("\n")

    def action_transcript(self, where: str) -> None:
        self.post_message(self.Scrolled(where))
