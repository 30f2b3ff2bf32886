"""What the Models screen says beside its list: what is left out of it, and what became of downloads."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from app.library.records import Entry, Fact, Getting, Phase
from app.library.words import ended_words
from app.tui.keymap import key_of
from app.tui.model_choice import came_as
from app.tui.screens.model_uses import UseActions
from app.tui.widgets.facts import Facts
from app.tui.widgets.notice import NoticeLine, Severity

FEW_ROWS: Final = 2
"""So many rows may be taken from the list for good; what needs more is told when it is asked for."""
AROUND: Final = 7
"""Columns of a notice beside its words."""


class NoteActions(UseActions):
    """One line says that something is left out, and a key tells all of it in the place of the details."""

    left_out: Sequence[str] = ()
    """Sentences about what is missing from the list."""
    reading_left_out = False
    """Whether they stand there now."""

    async def look_up(self) -> None:
        """Show the details of the highlighted entry."""
        raise NotImplementedError

    def tell_left_out(self) -> None:
        """Say at once what is short, and of the rest how it is read."""
        rows = [row for words in self.left_out for row in textwrap.wrap(words, max(20, self.size.width - AROUND))]
        if rows:
            self.say("\n".join(self.left_out) if len(rows) <= FEW_ROWS else self._folded(), "warning")

    def action_left_out(self) -> None:
        """All of it, below the list, until another row is highlighted or the key is pressed again."""
        self.reading_left_out = not self.reading_left_out
        if not self.reading_left_out:
            self.begin("details", self.look_up)
            return
        self.workers.cancel_group(self, "details")  # it would write over it
        labels = ["left out", *("" for _ in self.left_out)]
        facts = [Fact(label, words, "warn") for label, words in zip(labels, self.left_out, strict=False)]
        self.query_one(Facts).show(facts, "what is left out")
        notice = self.query_one(NoticeLine)
        if notice.text == self._folded():
            notice.clear()

    def _folded(self) -> str:
        notes = f"{len(self.left_out):,} note{'s' * (len(self.left_out) != 1)}"
        return f"Not everything is listed: {key_of('models.left_out')} says what is left out and why ({notes})."


def trouble_of(getting: Getting | None) -> str:
    """Why a download does not go on, what is kept and what to do; empty while it does."""
    wanted = (Phase.STALLED, Phase.FAILED)
    return getting.trouble if getting is not None and getting.phase in wanted else ""


def tried_again(before: Mapping[str, Getting], now: Mapping[str, Getting]) -> list[str]:
    """Downloads that had ended, and of which what was said then is not true any more."""
    return [key for key, one in before.items() if one.ended and key in now and now[key].phase is not one.phase]


def news_of(getting: Getting, highlighted: Entry | None) -> tuple[str, Severity]:
    """What is said of a download that has ended. A key is named only where it would use that very model."""
    if getting.phase is Phase.DONE:
        it_is_that = highlighted is not None and came_as(getting, highlighted)
        uses = f"; {key_of('models.use')} uses it" if it_is_that else ""
        return f"{ended_words(getting)}{uses}.", "information"
    return ended_words(getting), "error" if getting.phase is Phase.FAILED else "information"
