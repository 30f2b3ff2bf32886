"""One way's answer in a comparison: its text while it comes, and from where on it differs from the first way's."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.clean import clean, clean_line
from app.compare.runs import Run


class AnswerPane(VerticalScroll, can_focus=False):
    """Follows the end of its text. What differs from the first pane is warm."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = clean_line(label, 40)

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self._label, "bold $accent"), classes="way", markup=False)
        yield Static(classes="text", markup=False)

    def show(self, run: Run | None, first: Run | None, *, current: bool) -> None:
        """The text of ``run``, held against ``first``; ``current``: it is being made now."""
        way = Content.styled(self._label, "bold $accent")
        if run is not None and run.drafter:
            who = "" if run.drafter == "none" else f"  {run.drafter}"
            way = Content.assemble(way, (who, "$faint"), ("  writing…" if current else "", "$faint"))
        self.query_one(".way", Static).update(way)
        if run is None:
            self.query_one(".text", Static).update("")
            return
        text = clean(run.text)
        place = len(text) if first is None or first is run else common(text, clean(first.text))
        content = Content.assemble(
            (text[:place], "$foreground"), (text[place:], "$differing"), ("▍" if current else "", "$accent")
        )
        self.query_one(".text", Static).update(content)
        if current:  # not by an anchor: that puts a short text at the bottom
            self.call_after_refresh(self.scroll_end, animate=False)


def common(one: str, other: str) -> int:
    """Characters that two texts share from the start. A text that is not whole yet does not differ by that."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (here, there) in pairs if here != there), min(len(one), len(other)))
