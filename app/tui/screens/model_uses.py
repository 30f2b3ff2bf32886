"""What the Models screen does with a model: answer with it, measure it, have it propose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.library.records import Entry
from app.tui.background import aside
from app.tui.model_choice import choice_of, draft_choice, draft_refusal, same
from app.tui.screens.model_files import FileActions

TOO_LARGE: Final = "It is expected not to fit into this machine's memory; loading may fail or take very long."


class UseActions(FileActions):
    """The part of the screen that ends it with a choice."""

    score: Callable[[Entry], str] | None = None
    """Opens the scorecard of an entry, or returns why it cannot be opened now."""

    def action_use(self) -> None:
        if (entry := self.entry) is not None:
            self._if_it_fits(entry, f"Use {entry.title} all the same?", lambda: self._use(entry))

    def _use(self, entry: Entry) -> None:
        if same(entry.target, self.target) and same(entry.draft, self.draft):
            self.dismiss(None)
        else:
            self.dismiss(choice_of(entry))

    def action_score(self) -> None:
        """Whether speculation pays with it here, measured."""
        entry, score = self.entry, self.score
        if entry is None or score is None:
            return

        def begin() -> None:
            if reason := score(entry):
                self.say(reason, "warning")

        self._if_it_fits(entry, f"Load {entry.title} to measure it all the same?", begin)

    def action_draft(self) -> None:
        if (entry := self.entry) is not None:
            self.begin("draft", self._draft_with, entry)

    async def _draft_with(self, entry: Entry) -> None:
        fits, words = await aside(self.library.judge, self.target, entry.target)
        if not self.is_current:
            return  # left, or the palette lies over it: whatever was wanted then is not what is wanted now
        if fits:
            self.dismiss(draft_choice(self.target, entry, words))
        else:
            self.say(draft_refusal(entry, words), "warning")

    def _if_it_fits(self, entry: Entry, question: str, then: Callable[[], None]) -> None:
        """Ask first where the memory is expected not to do."""
        if entry.fits is False:
            self.ask(question, TOO_LARGE, then)
        else:
            then()
