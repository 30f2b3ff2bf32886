"""Which ways of answering are compared: who proposes, with which draft, and how far."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.clean import clean_line
from app.compare.ways import Way
from app.tui.keys import WAYS
from app.tui.local_drafts import LocalDraft
from app.tui.names import model_name
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.way_grid import LEAST, MOST, WayGrid, WayRow
from engine.protocol import PairInfo, SpeculationMode

log = logging.getLogger(__name__)

WIDE_HEADING: Final = 56
"""Columns from which the heading says all there is to say."""

OtherDrafts = Callable[[], Awaitable[Sequence[LocalDraft]]]
"""Looks for the other drafts of this disk."""

_WORDS: Final[dict[SpeculationMode, str]] = {
    "off": "plain decoding",
    "lookup": "the text so far",
    "draft": "the draft model",
    "auto": "while it helps",
}


class WaysScreen(ModalScreen["tuple[Way, ...] | None"]):
    """A panel at the bottom of the comparison. Ends with the ways, or None: as before."""

    CSS_PATH: ClassVar = ["ways.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*WAYS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]  # noqa: RUF012

    def __init__(self, pair: PairInfo, chosen: Sequence[Way], drafts: OtherDrafts | None) -> None:
        """``pair``: what is loaded, for the ways that are possible with it."""
        super().__init__()
        self._pair, self._before, self._drafts = pair, tuple(chosen), drafts

    def compose(self) -> ComposeResult:
        with Vertical(id="ways"):
            yield Static(id="heading", markup=False)
            with VerticalScroll(id="way-rows", can_focus=False):
                yield WayGrid(_rows(self._pair), self._before)
            yield Static(id="looking", markup=False)
            yield Static(id="chosen", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(WayGrid).focus()
        self.query_one("#looking").display = False
        self._say()
        if self._drafts is not None:
            self.run_worker(self._look(self._drafts), name="drafts", exit_on_error=False)

    async def _look(self, drafts: OtherDrafts) -> None:
        looking = self.query_one("#looking", Static)
        looking.update(Content.styled("looking for other drafts on this disk…", "$faint"))
        looking.display = True
        try:
            found = await drafts()
        except Exception:
            log.exception("other drafts were not looked for")
            found = ()
        looking.display = False
        self.query_one(WayGrid).add_rows([row for draft in found for row in _draft_rows(draft)])

    def on_resize(self) -> None:
        unit = " in tokens" if self.app.size.width >= WIDE_HEADING else ""
        columns = (f"   columns: longest draft{unit}", "$faint")
        self.query_one("#heading", Static).update(Content.assemble(("ways to compare", "bold $accent"), columns))

    @on(WayGrid.Changed)
    def _changed(self, event: WayGrid.Changed) -> None:
        self._say("four at most: take one out first" if event.refused else "")
        self.refresh_bindings()

    def _say(self, refusal: str = "") -> None:
        ways = self.query_one(WayGrid).chosen
        names = Content(" · ").join(
            Content.styled(clean_line(way.label, 40), "$foreground" if number else "bold $foreground")
            for number, way in enumerate(ways)
        )
        lacking = f"   at least {LEAST} are needed" if len(ways) < LEAST else "   the first is the yardstick"
        words = Content.styled(f"   {refusal}", "$warning") if refusal else Content.styled(lacking, "$faint")
        self.query_one("#chosen", Static).update(Content.assemble(names, words))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "compare" and self.is_mounted:
            return LEAST <= len(self.query_one(WayGrid).chosen) <= MOST
        return True

    def action_compare(self) -> None:
        chosen = self.query_one(WayGrid).chosen
        self.dismiss(None if chosen == self._before else chosen)

    def action_close(self) -> None:
        self.dismiss(None)


def _rows(pair: PairInfo) -> list[WayRow]:
    reasons = pair.available()
    draft = model_name(pair.draft) if pair.draft else ""
    names = {"draft": f"draft {draft}".strip(), "auto": f"auto {draft}".strip()}
    return [WayRow(mode, names.get(mode, mode), words, reason=reasons[mode]) for mode, words in _WORDS.items()]


def _draft_rows(draft: LocalDraft) -> list[WayRow]:
    modes: tuple[SpeculationMode, ...] = ("draft", "auto")
    return [WayRow(mode, f"{mode} {draft.title}", _WORDS[mode], draft.path) for mode in modes]
