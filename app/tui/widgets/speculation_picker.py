"""The speculation switch: every mode, what it means here, and why one is not possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.keys import MODES as MODE_KEYS
from app.tui.keys import PICKER
from app.tui.modes import MODES as MODES
from app.tui.modes import reasons_against as reasons_against
from app.tui.names import model_name
from engine.protocol import PairInfo, SpeculationMode

NARROW: Final = 100


Take = Callable[[events.Event], None]
"""Gets a key or a paste that is text, at once."""


class ModeList(OptionList):
    """A list whose keys the footer shows."""

    BINDINGS: ClassVar[list[BindingType]] = [*MODE_KEYS]
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


class SpeculationPicker(Vertical):
    """Hidden until :meth:`open`. Speaks :class:`Chosen` or :class:`Closed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*PICKER]

    _shown: tuple[SpeculationMode, PairInfo | None] | None = None
    """The mode in force and the pair that the rows are about."""

    class Chosen(Message):
        """A mode for the next answer."""

        def __init__(self, mode: SpeculationMode) -> None:
            super().__init__()
            self.mode = mode

    class Closed(Message):
        """Nothing was changed."""

    def compose(self) -> ComposeResult:
        yield Static("speculation for the next answer", classes="heading", markup=False)
        yield ModeList(compact=True, markup=False)

    def on_mount(self) -> None:
        self.display = False

    def open(self, now: SpeculationMode, pair: PairInfo | None, take: Take) -> None:
        """Show the modes; ``now`` is the one in force. ``take``: see :class:`ModeList`."""
        options = self.query_one(ModeList)
        options.take = take
        self._shown = now, pair
        self._show_rows(MODES.index(now) if reasons_against(pair)[now] is None else 0)
        self.display = True
        self.screen.set_focus(options)  # now: focus() would come later

    def on_resize(self) -> None:
        """Rows say as much as there is room for."""
        if self.display and self._shown is not None:
            self._show_rows(self.query_one(ModeList).highlighted)

    def _show_rows(self, highlighted: int | None) -> None:
        assert self._shown is not None
        options, (now, pair) = self.query_one(ModeList), self._shown
        narrow = self.app.size.width < NARROW
        reasons = reasons_against(pair)
        options.set_options(
            Option(_row(mode, now, pair, reasons[mode], narrow), id=mode, disabled=reasons[mode] is not None)
            for mode in MODES
        )
        options.highlighted = highlighted

    def close(self) -> None:
        self.display = False

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        for mode in MODES:
            if mode == event.option_id:
                self.post_message(self.Chosen(mode))


def _row(
    mode: SpeculationMode, now: SpeculationMode, pair: PairInfo | None, reason: str | None, narrow: bool
) -> Content:
    if reason is not None:
        return Content.assemble(("✕ ", "$warning"), f"{mode:<8}", (clean_line(reason, 110), "$muted"))
    draft = pair.draft if pair else None
    what, why = {
        "off": ("", "plain decoding, one token a pass"),
        "lookup": ("", "free; best when the answer repeats the text so far"),
        "draft": (model_name(draft) if draft else "", "a smaller model proposes"),
        "auto": ("lookup › draft › off" if draft else "lookup › off", "drafts only while it can help"),
    }[mode]
    mark, style = ("● ", "$accent") if mode == now else ("○ ", "$muted")
    middle = what and f"{what}  " if narrow else f"{what:<26}"
    return Content.assemble((mark, style), f"{mode:<8}", middle, (why, "$muted"))
