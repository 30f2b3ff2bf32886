"""A question before something is fetched or deleted: what would happen, and two keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app.clean import clean, clean_line
from app.tui.keys import QUESTION


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

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_mount(self) -> None:
        self.display = False

    def ask(self, title: str, text: str, then: Callable[[], None] | None, *, refusal: str = "") -> None:
        """Show ``text`` and wait for enter or esc. Without ``then`` there is nothing to agree to."""
        self._then = then
        self.text = clean("\n".join(part for part in (title, text, refusal) if part))
        self.query_one(Static).update(
            Content.assemble(
                (clean_line(title), "bold $foreground"),
                "\n" if text else "",
                (clean(text), "$muted"),
                "\n" if refusal else "",
                (clean(refusal), "$warning"),
            )
        )
        self.display = True
        self.scroll_home(animate=False)
        self.focus()
        self.refresh_bindings()

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
