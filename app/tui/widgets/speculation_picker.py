"""The speculation switch: every mode, what it means here, and why one is not possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.keys import PICKER
from app.tui.modes import MODES as MODES
from app.tui.modes import reasons_against as reasons_against
from app.tui.names import model_name
from app.tui.whole_words import whole_words
from app.tui.widgets.picker import EDGES, Picker, Take
from engine.protocol import PairInfo, SpeculationMode

NARROW: Final = 100


class SpeculationPicker(Picker):
    """Hidden until :meth:`open`. Speaks :class:`Chosen` or :class:`Closed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*PICKER]
    HEADING = "speculation for the next answer"

    _shown: tuple[SpeculationMode, PairInfo | None] | None = None
    """The mode in force and the pair that the rows are about."""

    class Chosen(Message):
        """A mode for the next answer."""

        def __init__(self, mode: SpeculationMode) -> None:
            super().__init__()
            self.mode = mode

    def open(self, now: SpeculationMode, pair: PairInfo | None, take: Take) -> None:
        """Show the modes; ``now`` is the one in force. ``take``: see :class:`PickerList`."""
        self.rows.take = take
        self._shown = now, pair
        self.show_rows(MODES.index(now) if reasons_against(pair)[now] is None else 0)
        self.display = True
        self.screen.set_focus(self.rows)  # now: focus() would come later

    def options(self) -> Iterable[Option]:
        assert self._shown is not None
        now, pair = self._shown
        columns = self.app.size.width
        reasons = reasons_against(pair)
        return [
            Option(_row(mode, now, pair, reasons[mode], columns), id=mode, disabled=reasons[mode] is not None)
            for mode in MODES
        ]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        for mode in MODES:
            if mode == event.option_id:
                self.post_message(self.Chosen(mode))


def _row(
    mode: SpeculationMode, now: SpeculationMode, pair: PairInfo | None, reason: str | None, columns: int
) -> Content:
    """``columns``: of the terminal."""
    room = columns - EDGES - 2 - 8
    if reason is not None:
        reason = whole_words(clean_line(reason, 110), room)
        return Content.assemble(("✕ ", "$warning"), f"{mode:<8}", (reason, "$muted"))
    draft = pair.draft if pair else None
    what, why = {
        "off": ("", "plain decoding, one token a pass"),
        "lookup": ("", "free; best when the answer repeats the text so far"),
        "draft": (model_name(draft) if draft else "", "a smaller model proposes"),
        "auto": ("lookup › draft › off" if draft else "lookup › off", "drafts only while it can help"),
    }[mode]
    mark, style = ("● ", "$accent") if mode == now else ("○ ", "$muted")
    middle = what and f"{what}  " if columns < NARROW else f"{what:<26}"
    why = whole_words(why, max(0, room - Content(middle).cell_length))
    return Content.assemble((mark, style), f"{mode:<8}", middle, (why, "$muted"))
