"""Leaving would lose what was said: whether to try once more, to stay, or to leave all the same."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from app.clean import clean
from app.tui.widgets.choices import Choice, Choices
from app.tui.widgets.key_bar import KeyBar

TITLE: Final = "Leave, and lose it?"
OFFERED: Final = (
    Choice("again", "try again", "save it now, and leave when it is saved: you have made room"),
    Choice("stay", "stay", "the chat goes on; its text can be copied from here"),
    Choice("leave", "leave all the same", "what is not saved is gone"),
)


class LosingScreen(ModalScreen["str | None"]):
    """A panel at the bottom, over whatever is on screen. Ends with a choice; None: stay."""

    CSS_PATH: ClassVar = ["losing.tcss", "../widgets/choices.tcss"]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012

    def __init__(self, loses: str) -> None:
        super().__init__()
        self._loses = loses

    def compose(self) -> ComposeResult:
        with Vertical(id="losing"):
            yield Static(clean(self._loses), markup=False, id="loses")
            yield Choices()
            yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(Choices).open("leave", TITLE, OFFERED, "")

    @on(Choices.Chosen)
    def _chosen(self, event: Choices.Chosen) -> None:
        self.dismiss(event.value)

    @on(Choices.Closed)
    def _stays(self) -> None:
        self.dismiss(None)
