"""What somebody can begin with who has used nothing but the starter: start, get a better pair, use a file of theirs.

The list is reached with tab or a click, and typing never ends in it: a letter goes to the composer, and so does the
focus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.library.records import Suggestion
from app.tui.keys import FIRST_STEPS
from app.tui.keys import MODES as LIST_KEYS
from app.tui.widgets.composer import Composer
from engine.files.sizes import size_words

Action = Literal["start", "best", "local"]

EDGES: Final = 8
"""Columns beside what is said below an entry."""
ONE_LINE: Final = 100
"""Cells from which on what is said of an entry stands beside it, and not below."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the list."""

    action: Action
    what: str
    more: str
    possible: bool = True


def steps(suggestion: Suggestion | None, model: str | None) -> list[Step]:
    """The entries. ``suggestion`` None: the disk is still being looked at; ``model``: what answers, None: nothing."""
    found = [Step("start", f"start now with {model}", _starter(suggestion))] if model else []
    if suggestion is None:
        return [
            *found,
            Step("best", "get the best pair for this machine", "looking at this machine…", possible=False),
            Step("local", "use a model file on this disk", "looking at this disk…", possible=False),
        ]
    return [*found, _best(suggestion), _local(suggestion)]


def _starter(suggestion: Suggestion | None) -> str:
    size = suggestion.starter.size if suggestion is not None else None
    return f"{size_words(size)}, already here" if size else "already here"


def _best(suggestion: Suggestion) -> Step:
    best = suggestion.best
    if best is None:
        return Step("best", "get a better pair for this machine", "none of the catalogue fits here", possible=False)
    if best.usable and not suggestion.missing:
        return Step("best", "use the best pair for this machine", f"{best.title}, already here")
    size = size_words(suggestion.missing)
    if best.size is None:
        size = f"more than {size}"
    elif suggestion.missing < best.size:
        size = f"{size} of {size_words(best.size)} to get"
    memory = f"{size_words(best.memory)} of memory: fits" if best.memory else "fits"
    return Step("best", "get the best pair for this machine", f"{best.title}, {size}, {memory}")


def _local(suggestion: Suggestion) -> Step:
    total = sum(number for _, number in suggestion.found)
    if not total:
        return Step("local", "use a model file on this disk", "none found", possible=False)
    where = ", ".join(f"{place} {number}" for place, number in suggestion.found)
    return Step("local", "use a model file on this disk", f"{total} found: {where}")


class FirstSteps(OptionList):
    """The entries; speaks :class:`Chosen`."""

    BINDINGS: ClassVar[list[BindingType]] = [*LIST_KEYS, *FIRST_STEPS]

    class Chosen(Message):
        """An entry that is possible."""

        def __init__(self, action: Action) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__(compact=True, markup=False)
        self._steps: list[Step] = []

    def show(self, entries: list[Step]) -> None:
        """Replace the entries; the highlight stays."""
        if entries == self._steps:
            return
        before, self._steps = self.highlighted, entries
        self._draw()
        possible = [number for number, step in enumerate(entries) if step.possible]
        self.highlighted = before if before in possible else next(iter(possible), None)

    def on_resize(self) -> None:
        before = self.highlighted
        self._draw()
        self.highlighted = before

    def _draw(self) -> None:
        # The screen's width, not the list's own: that follows from what it shows.
        beside = self.app.size.width >= ONE_LINE
        left = max((len(step.what) for step in self._steps), default=0)
        self.set_options(
            Option(_row(step, left if beside else 0, self.app.size.width), id=step.action, disabled=not step.possible)
            for step in self._steps
        )

    async def _on_key(self, event: events.Key) -> None:
        """A letter is the first of a message. At once: the next key may be here already."""
        if event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            self._composer().insert_text(event.character)
            self.action_leave()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._composer().insert_text(event.text)
        self.action_leave()

    def action_leave(self) -> None:
        """Back to where one types."""
        self.screen.set_focus(self._composer())

    def _composer(self) -> Composer:
        return self.screen.query_one(Composer)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        for step in self._steps:
            if step.action == event.option_id and step.possible:
                self.post_message(self.Chosen(step.action))


def _row(step: Step, left: int, columns: int) -> Content:
    """``left``: cells of what can be done, where more about it stands beside it; ``columns``: of the terminal."""
    said = clean_line(step.more, 80)
    while len(said) > columns - EDGES and ", " in said:  # the last part is the first to go
        said = said.rpartition(", ")[0]
    what = Content.styled(clean_line(step.what, 80).ljust(left), "$foreground" if step.possible else "$faint")
    more = Content.styled(said, "$muted" if step.possible else "$faint")
    return Content.assemble(what, "   " if left else "\n  ", more)
