"""What an empty chat shows."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Center, Vertical
from textual.content import Content
from textual.widgets import Static

from app.library.records import Suggestion
from app.tui.widgets.first_steps import FirstSteps, steps

LOW: Final = 12
"""Rows below which the list stands alone."""


class Welcome(Vertical):
    """The name, one sentence, and what to do next; for somebody who has used nothing but the starter as a list."""

    _first = False
    _suggestion: Suggestion | None = None
    _model: str | None = None
    _failed = False

    def compose(self) -> ComposeResult:
        yield Static(id="welcome-name", markup=False)
        with Center():
            yield FirstSteps()
        yield Static(id="welcome-words", markup=False)

    def on_mount(self) -> None:
        self.query_one("#welcome-name", Static).update(
            Content.assemble(
                ("slipstream\n", "bold $accent"), ("fast answers from a model on your own machine", "$muted")
            )
        )
        self._draw()

    def show(self, model: str | None, *, failed: bool = False) -> None:
        """``model``: what answers, or would (``failed``)."""
        self._model, self._failed = model, failed
        self._draw()

    def offer(self, suggestion: Suggestion | None) -> None:
        """Offer the first steps; None: what there is to offer is still being found out."""
        self._first, self._suggestion = True, suggestion
        self._draw()

    def settle(self) -> None:
        """Another model was chosen: these are no first steps any more."""
        if self._first:
            self._first = False
            if self.query_one(FirstSteps).has_focus:
                self.query_one(FirstSteps).action_leave()
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        low = self._first and self.size.height < LOW
        for words in self.query(Static):
            words.display = not low
        listed = self.query_one(FirstSteps)
        listed.display = self._first
        if self._first:
            listed.show(steps(self._suggestion, None if self._failed else self._model))
        self.query_one("#welcome-words", Static).update(Content.styled("\n".join(self._words()), "$faint"))

    def _words(self) -> list[str]:
        if self._first:
            start = "" if self._failed or self._model is None else " · typing starts a chat"
            return [
                f"tab, then ↑↓ and enter, or a click{start}",
                "nothing you type leaves this machine · what is here works offline",
            ]
        private = "Nothing you type leaves this machine."
        if self._model is None:
            return ["No model is chosen yet; typing and reading work.", private]
        if self._failed:
            return [f"{self._model} could not be loaded; typing and reading work.", private]
        figures = "Under each answer: its speed, and how many guessed tokens were right."
        return [f"{self._model} answers here.", private, figures]
