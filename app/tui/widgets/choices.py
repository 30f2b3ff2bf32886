"""A setting that is chosen from a few: a small list below the sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.keys import CHOICES
from app.tui.whole_words import whole_words
from app.tui.widgets.picker import EDGES, Picker

NAME: Final = 20
"""Columns of the values; what they mean stands behind them."""


class Choice(NamedTuple):
    """One of a few."""

    value: str
    """What :class:`Choices.Chosen` says."""
    shown: str
    help: str
    possible: bool = True


class Choices(Picker):
    """Hidden until :meth:`open`. Says :class:`Chosen` or :class:`Closed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOICES]

    class Chosen(Message):
        """One was chosen."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            """The setting that was asked for."""
            self.value = value

    _key = _now = ""
    _offered: tuple[Choice, ...] = ()

    def open(self, key: str, title: str, offered: Sequence[Choice], now: str) -> None:
        """Ask which one ``key`` shall be; ``now``: the one in force."""
        self._key, self._now, self._offered = key, now, tuple(offered)
        self.query_one(Static).update(Content(whole_words(title, self.app.size.width - EDGES)))
        possible = [at for at, one in enumerate(self._offered) if one.possible]
        self.show_rows(next((at for at in possible if self._offered[at].value == now), possible[0]))
        self.display = True
        self.screen.set_focus(self.rows)  # now: what was clicked before may still be told of

    def options(self) -> Iterable[Option]:
        width = self.app.size.width - 8
        return [Option(_row(one, self._now, width), disabled=not one.possible) for one in self._offered]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self._key, self._offered[event.option_index].value))


def _row(one: Choice, now: str, width: int) -> Content:
    name = Content(clean_line(one.shown, 60))
    mark = ("✕ ", "$warning") if not one.possible else ("● ", "$accent") if one.value == now else ("○ ", "$muted")
    gap = " " * max(2, NAME - name.cell_length)
    head = Content.assemble(mark, name, gap)
    words = whole_words(clean_line(one.help, 200), max(0, width - head.cell_length))
    return Content.assemble(head, (words, "$muted")).truncate(width, ellipsis=True)
