"""The question what to do about a conversation that outgrows the context: every way, what it means here, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Final, get_args

from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.keys import OVERFLOW
from app.tui.overflow_choices import SHORTER, Way
from app.tui.whole_words import whole_words
from app.tui.widgets.picker import EDGES, Picker, PickerList, Take

if TYPE_CHECKING:
    from app.tui.overflow_choices import Choice, Choices

NARROW: Final = 112
"""Columns of a terminal from which rows say all there is to say."""
LEAST: Final = 64
"""Columns below which labels are shorter."""


class WayList(PickerList):
    """A list that keeps its own keys only, and the picker's: what is typed or pasted is for the composer."""

    def _forward_event(self, event: events.Event) -> None:
        """Its own keys are done here and at once: what is typed behind the enter that chooses would close the question
        before that enter was handled."""
        if not (isinstance(event, events.Key) and self._act(event.key)):
            super()._forward_event(event)

    def _act(self, key: str) -> bool:
        """Do what this key is bound to, by default or as the user has it; whether there was anything."""
        for node in (self, self.parent):
            for binding in node._bindings.key_to_bindings.get(key, ()) if node is not None else ():
                try:
                    getattr(node, f"action_{binding.action}")()
                except SkipAction:  # to scroll sideways, for instance, where there is nothing to scroll
                    continue
                return True
        return False

    def action_select(self) -> None:
        """Enter, or a click: the row is told of at once, not in a message."""
        option = self.highlighted_option
        if option is not None and not option.disabled and isinstance(self.parent, OverflowPicker):
            self.parent.choose_row(option.id)


class OverflowPicker(Picker):
    """Hidden until :meth:`ask`."""

    BINDINGS: ClassVar[list[BindingType]] = [*OVERFLOW]
    LIST = WayList

    def __init__(self) -> None:
        super().__init__()
        self._choices: Choices | None = None
        self._answer: Callable[[Way], None] = lambda way: None

    def ask(self, choices: Choices, answer: Callable[[Way], None], take: Take) -> None:
        """Show the ways. The last one, which changes nothing, is highlighted: an enter that was meant for something
        else does no harm. ``answer`` gets what is to be done, at once; ``take``: see :class:`PickerList`."""
        self._choices, self._answer = choices, answer
        self.rows.take = take
        self.query_one(Static).update(Content(clean_line(choices.heading, 200)))
        self.show_rows(len(choices.rows) - 1)
        self.display = True
        self.screen.set_focus(self.rows)

    def close(self) -> None:
        self._choices = None
        super().close()

    def action_close(self) -> None:
        self._answer("stop")

    def choose_row(self, option_id: str | None) -> None:
        """What the row stands for is to be done."""
        for way in get_args(Way):
            if way == option_id:
                self._answer(way)

    def on_descendant_blur(self) -> None:
        """The focus went elsewhere, to the composer by a click for instance; not when the whole terminal lost it."""
        if self._choices is not None and self.screen.focused not in (None, self.rows):
            self._answer("stop")

    def options(self) -> Iterable[Option]:
        assert self._choices is not None
        rows = self._choices.rows
        columns = self.app.size.width
        labels = [SHORTER.get(row.label, row.label) if columns < LEAST else row.label for row in rows]
        width = max(map(len, labels))
        return [
            Option(_row(row, f"{label:<{width}}  ", columns), id=row.way, disabled=bool(row.why_not))
            for row, label in zip(rows, labels, strict=True)
        ]


def _row(row: Choice, label: str, columns: int) -> Content:
    """``columns``: of the terminal."""
    room = max(0, columns - EDGES - len(label) - 2)
    if row.why_not:
        return Content.assemble(("✕ ", "$warning"), label, (whole_words(clean_line(row.why_not, 110), room), "$muted"))
    more = "" if columns < NARROW else row.more
    return Content.assemble(("○ ", "$muted"), label, (whole_words(clean_line(row.words + more, 160), room), "$muted"))
