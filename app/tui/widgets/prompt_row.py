"""The composer's row: the prompt sign, the text, and what the next answer will be made with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from app.tui.widgets.composer import Composer
from engine.protocol import PairInfo, SpeculationMode

SHOWN: Final = 2
"""Settings of the chat that are named; the others are counted."""


def effective(mode: SpeculationMode, pair: PairInfo | None) -> str:
    """``draft › lookup``: what was chosen, and who will really propose where that is something else."""
    if mode == "off":
        return mode
    if pair is not None and pair.available()["lookup"] is not None:
        return f"{mode} › off"
    if mode == "auto":
        return f"{mode} › {'lookup, draft' if pair and pair.draft else 'lookup'}"
    return f"{mode} › lookup" if mode == "draft" and pair is not None and pair.draft is None else mode


class NextAnswer(Static):
    """``auto › lookup · temp 0.7 · seed 7``; a click opens the speculation switch."""

    def show(
        self, mode: SpeculationMode, pair: PairInfo | None, temperature: float, differing: Sequence[str] = ()
    ) -> None:
        """``differing``: what this chat does otherwise than by default; more than fits is counted."""
        really = effective(mode, pair)
        if self.app.size.width < 90:
            self.update(Content.styled(mode if mode == "auto" else really, "$muted"))
            return
        words = [f"temp {temperature:g}", *differing[:SHOWN]]
        if len(differing) > SHOWN:
            words.append(f"+{len(differing) - SHOWN}")
        self.update(Content.assemble((really, "$muted"), *((f" · {word}", "$faint") for word in words)))

    async def on_click(self) -> None:
        await self.run_action("screen.speculation")


class PromptRow(Horizontal):
    def compose(self) -> ComposeResult:
        yield Static("❯", id="prompt-sign", markup=False)
        yield Composer()
        yield NextAnswer(id="next-answer", markup=False)
