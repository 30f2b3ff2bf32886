"""What an empty chat shows."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class Welcome(Static):
    """The name, one sentence, and what to do next."""

    def show(self, model: str | None, *, failed: bool = False) -> None:
        if model is None:
            first = "No model is chosen yet; typing and reading work."
        elif failed:
            first = f"{model} could not be loaded; typing and reading work."
        else:
            first = f"{model} answers here."
        figures = (
            "" if model is None or failed else "\nUnder each answer: its speed, and how many guessed tokens were right."
        )
        self.update(
            Content.assemble(
                ("slipstream\n", "bold $accent"),
                ("fast answers from a model on your own machine\n\n", "$muted"),
                (f"{first}\nNothing you type leaves this machine.{figures}", "$faint"),
            )
        )
