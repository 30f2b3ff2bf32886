"""What an empty chat shows."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class Welcome(Static):
    """The name, one sentence, and what to do next."""

    def show(self, model: str | None) -> None:
        first = f"{model} answers on this machine." if model else "No model is chosen yet; typing and reading work."
        self.update(
            Content.assemble(
                ("slipstream\n", "bold $accent"),
                ("fast answers from a model on your own machine\n\n", "$muted"),
                (f"{first} Nothing you type leaves it.\n", "$faint"),
                ("Under every answer stands how fast it was and how much of it was foreseen.", "$faint"),
            )
        )
