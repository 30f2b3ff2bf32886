"""A question before something is fetched or deleted: what would happen, and two keys."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app.clean import clean, clean_line
from app.tui.keys import QUESTION

EDGES: Final = 8
"""Columns beside the text."""


class Question(VerticalScroll):
    """Hidden until :meth:`ask`; stands where the details stand otherwise. Speaks :class:`Answered`."""

    BINDINGS: ClassVar[list[BindingType]] = [*QUESTION]

    class Answered(Message):
        """``then`` is what was asked about: to be done when the answer was yes."""

        def __init__(self, yes: bool, then: Callable[[], None] | None) -> None:
            super().__init__()
            self.yes = yes
            self.then = then

    _then: Callable[[], None] | None = None
    text = ""
    _parts: Sequence[tuple[str, str]] = ()

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_mount(self) -> None:
        self.display = False

    def ask(self, title: str, text: str, then: Callable[[], None] | None, *, refusal: str = "") -> None:
        """Show ``text`` and wait for enter or esc. Without ``then`` there is nothing to agree to. ``refusal`` says why,
        and before all details: there may be more of those than there is room for."""
        self._then = then
        parts = (clean_line(title), "bold $foreground"), (clean(refusal), "$warning"), (clean(text), "$muted")
        self._parts = [(words, style) for words, style in parts if words]
        self.text = "\n".join(words for words, _ in self._parts)
        self._draw()
        self.display = True
        self.scroll_home(animate=False)
        self.focus()
        self.refresh_bindings()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width or self.screen.size.width - EDGES
        parts = [Content.styled(folded(words, width), style) for words, style in self._parts]
        self.query_one(Static).update(Content("\n").join(parts))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._then is not None if action == "yes" else True

    def action_yes(self) -> None:
        self._answer(True)

    def action_no(self) -> None:
        self._answer(False)

    def _answer(self, yes: bool) -> None:
        then, self._then = self._then, None
        self.display = False
        self.post_message(self.Answered(yes, then if yes else None))


def folded(text: str, width: int) -> str:
    """``text`` in lines of ``width``: what stands further in and is too long goes on still further in."""
    lines: list[str] = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        further = " " * (indent + 2 * bool(indent))
        lines += textwrap.wrap(line, max(20, width), subsequent_indent=further, break_on_hyphens=False) or [""]
    return "\n".join(lines)
