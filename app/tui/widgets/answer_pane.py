"""One way's answer in a comparison: its text while it comes, and from where on it differs from the first way's (the
first way's: from any other's)."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.clean import clean, clean_line
from app.compare.runs import Run
from app.receipt import drafter_word


class AnswerPane(VerticalScroll, can_focus=False):
    """Follows the end of its text. What differs between the first pane and another is warm in both."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = clean_line(label, 40)

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self._label, "bold $accent"), classes="way", markup=False)
        yield Static(classes="text", markup=False)

    def show(self, run: Run | None, others: Sequence[Run | None], *, current: bool) -> None:
        """The text of ``run``, held against ``others``; ``current``: it is being made now."""
        way = Content.styled(self._label, "bold $accent")
        if run is not None and run.drafter:
            who = "" if run.drafter == "none" else f"  {drafter_word(run.stats, run.drafter)}"
            way = Content.assemble(way, (who, "$faint"), ("  writing…" if current else "", "$faint"))
        self.query_one(".way", Static).update(way)
        if run is None:
            self.query_one(".text", Static).update("")
            return
        text = clean(run.text)
        forks = [fork for other in others if other is not None and (fork := differs_at(run, other)) is not None]
        place = min(forks, default=len(text))
        content = Content.assemble(
            (text[:place], "$foreground"), (text[place:], "$differing"), ("▍" if current else "", "$accent")
        )
        self.query_one(".text", Static).update(content)
        if current:  # not by an anchor: that puts a short text at the bottom
            self.call_after_refresh(self.scroll_end, animate=False)


def differs_at(one: Run, other: Run) -> int | None:
    """The first character in which two texts differ; None: in none. A text that is not whole yet does not differ by
    where it ends."""
    texts = clean(one.text), clean(other.text)
    place = common(*texts)
    ends = place == min(map(len, texts))
    return None if texts[0] == texts[1] or (ends and not (one.whole and other.whole)) else place


def common(one: str, other: str) -> int:
    """Characters that two texts share from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (here, there) in pairs if here != there), min(len(one), len(other)))
