"""The Compare screen: the last request once more in two to four ways, side by side, and what each brings."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from app.clean import clean, clean_line
from app.compare.causes import Cause, explain
from app.compare.conduct import Comparison, conduct
from app.compare.memory import memory_of
from app.compare.report import busy_words, same_words, stopped_words
from app.compare.runs import Run, RunFailed
from app.compare.verdict import factor_legend, faster_way, first_fork, table, verdict
from app.compare.ways import Way
from app.tui import motion
from app.tui.background import aside
from app.tui.keys import COMPARE
from app.tui.widgets.answer_pane import AnswerPane, Layout, rest_at_difference
from app.tui.widgets.compare_header import CompareHeader
from app.tui.widgets.compare_table import CompareTable
from app.tui.widgets.curve_plot import CurvePlot
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from app.tui.ports import Engine
    from app.tui.screens.ways import OtherDrafts

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 1 / 8
STYLES: Final = "answer_pane compare_table curve_plot"
SIDE_BY_SIDE: Final = 2
"""Panes on a narrow screen; further ways are in the table only."""


class CompareScreen(Screen["Way | None"]):
    """Runs by itself as soon as it is there. Ends with the way to go on with, or None: as before."""

    CSS_PATH: ClassVar = ["compare.tcss", *(f"../widgets/{name}.tcss" for name in STYLES.split())]
    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-least"), (18, "-low"), (30, "-high")]  # noqa: RUF012

    def __init__(
        self, engine: Engine, comparison: Comparison, title: str, context: int, drafts: OtherDrafts | None = None
    ) -> None:
        """``title``: what was asked, in its own words. The engine must be idle and stay so. ``drafts``: looks for other
        drafts that could be compared."""
        super().__init__()
        self.loaded_others = False
        """Whether another draft than the chat's may be loaded now."""
        self.left_behind = ""
        """What there is to say in the chat, where it was stopped between its runs."""
        self._drafts = drafts
        self.comparison = comparison
        self._engine, self._question, self._window = engine, title, context
        self._memory: list[int | None] = [None for _ in comparison.ways]
        self._cause: Cause | None = None
        self._failure = ""
        self._over = False
        self._warming: Way | None = None
        self._due = True
        self._scrolls = False
        """Whether the figures are more than there is room for."""
        self._differs, self._rested = False, list[Layout]()
        self._sought = False
        """Whether the first difference was asked for: while more is written, the panes stay there, too."""

    def compose(self) -> ComposeResult:
        yield CompareHeader(self._question)
        with Horizontal(id="panes"):
            yield from self._panes()
        with VerticalScroll(id="figures", can_focus=False):
            with Horizontal(id="table-and-plot"):
                yield CompareTable()
                yield CurvePlot()
            yield Static(id="factor", markup=False)
            yield Static(id="same", markup=False)
            yield Static(id="verdict", markup=False)
        yield KeyBar()
        yield TooSmall(markup=False)

    def _panes(self) -> list[AnswerPane]:
        panes = [AnswerPane(way.label) for way in self.comparison.ways]
        for pane in panes[SIDE_BY_SIDE:]:
            pane.add_class("further")
        return panes

    def on_mount(self) -> None:
        self.set_interval(motion.every(self.app, FRAME_SECONDS), self._frame)
        self._begin()

    def _begin(self) -> None:
        self._over, self._due = False, True
        self.loaded_others = self.loaded_others or any(way.draft is not None for way in self.comparison.ways)
        self.run_worker(self._run(self.comparison), name="compare", exit_on_error=False)
        self.refresh_bindings()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self._due = True

    def action_scroll(self, where: str) -> None:
        """``up``, ``down``, ``page_up`` or ``page_down`` in the figures, where there is no room for all of them."""
        getattr(self.query_one("#figures", VerticalScroll), f"scroll_{where}")(animate=False)

    # --------------------------------------------------------------------------------------------------- running

    async def _run(self, comparison: Comparison) -> None:
        try:
            await self._estimate(comparison)
            await conduct(self._engine, comparison, changed=self._changed, warming=self._warm)
            if comparison.refused:  # known since the warm-up
                await self._estimate(comparison)
            forked = first_fork(comparison)
            if forked is not None and not comparison.stopped:
                self._cause = await explain(self._engine, *forked)
        except RunFailed as error:
            self._failure = str(error)
        except Exception as error:
            log.exception("a comparison failed")
            self._failure = f"The comparison ended by a fault of Slipstream's own ({type(error).__name__})."
        self._over, self._due = True, True
        self._draw()
        self.refresh_bindings()

    async def _estimate(self, comparison: Comparison) -> None:
        """What each way takes of the memory."""
        self._memory = [
            await aside(memory_of, way, comparison.load, self._window, {*comparison.refused}) for way in comparison.ways
        ]

    def _warm(self, way: Way) -> None:
        self._warming, self._due = way, True

    def _changed(self, run: Run) -> None:
        self._warming, self._due = None, True

    @property
    def _current(self) -> Run | None:
        runs = self.comparison.runs
        return runs[-1] if runs and not runs[-1].finish_reason and not self._over else None

    # --------------------------------------------------------------------------------------------------- drawing

    def _frame(self) -> None:
        self._draw()
        if self._over or self._sought:
            self._rest()

    @property
    def _ready_panes(self) -> list[AnswerPane]:
        """None of them, while those of other ways take their place."""
        panes = list(self.query(AnswerPane))
        return panes if all(pane.ready for pane in panes) else []

    def _rest(self) -> None:
        """Where the answers differ, and there again when the room for them is another one: figures and sentences below
        them grow, and a scroll bar makes a text narrower, some frames after it was drawn."""
        panes = self._ready_panes
        layout = [pane.layout_at for pane in panes]
        if layout != self._rested:
            self._rested = layout
            rest_at_difference(panes)

    def _draw(self) -> None:
        """Where something has changed since the last frame."""
        if not self._due or not self.is_mounted:
            return
        self._due = False
        comparison, panes = self.comparison, self._ready_panes
        if len(panes) != len(comparison.ways):  # other ways were chosen; their panes are on the way
            self._due = True
            return
        latest = [self._latest(way) for way in comparison.ways]
        self.query_one(CompareHeader).show(comparison, self._warming, over=self._over)
        for at, (pane, run) in enumerate(zip(panes, latest, strict=True)):
            others = latest[:1] if at else latest[1:]
            pane.show(run, others, current=run is not None and run is self._current, follow=not self._sought)
        self.query_one(CompareTable).show(comparison, table(comparison, self._memory))
        self.query_one(CurvePlot).show([run.curve if run else [] for run in latest])
        self._explain_factor()
        self._say()
        self.call_after_refresh(self._offer_scrolling)

    def _offer_scrolling(self) -> None:
        """In the footer, where there is not room for all figures; and the way to a difference, where there is one."""
        scrolls = self.query_one("#figures", VerticalScroll).max_scroll_y > 0
        differs = any(pane.fork is not None for pane in self.query(AnswerPane))
        if (scrolls, differs) != (self._scrolls, self._differs):
            self._scrolls, self._differs = scrolls, differs
            self.refresh_bindings()

    def _explain_factor(self) -> None:
        factor = self.query_one("#factor", Static)
        factor.update(Content.styled(clean_line(factor_legend(self.comparison), 200), "$faint"))

    def _latest(self, way: Way) -> Run | None:
        """The newest run of this way, whole or not."""
        return next((run for run in reversed(self.comparison.runs) if run.way == way), None)

    def _say(self) -> None:
        same, words = self.query_one("#same", Static), self.query_one("#verdict", Static)
        if self._failure:
            same.update(Content.styled(clean(self._failure), "$warning"))
            words.update("")
            return
        forked = first_fork(self.comparison) is not None
        said = clean(same_words(self.comparison, self._cause))
        same.update(Content.styled(said, "$warning" if forked else "$muted"))
        notes = [*busy_words(self.comparison.runs), *self.comparison.notes] if self._over else []
        found = verdict(self.comparison, self._memory)
        lines = Content.styled(clean(found), "bold $foreground" if self._over else "$muted")
        words.update(Content("\n").join([lines, *(Content.styled(clean(note), "$warning") for note in notes)]))

    # --------------------------------------------------------------------------------------------------- the keys

    @property
    def chosen(self) -> Way | None:
        """The way that is worth keeping; None while it runs, and where none is faster for certain."""
        return faster_way(self.comparison) if self._over else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "scroll":
            return self._scrolls
        if action == "difference":
            return self._differs
        return self.chosen is not None if action == "keep" else True

    def action_keep(self) -> None:
        self.dismiss(self.chosen)

    def action_difference(self) -> None:
        """To the first difference, also where somebody scrolled away from it."""
        panes, self._sought = self._ready_panes, True
        for pane in panes:
            pane.moved = False
        rest_at_difference(panes)

    def action_answers(self, where: str) -> None:
        """``up`` or ``down``, all of them by a row: what stands side by side stays so."""
        for pane in self._ready_panes:
            pane.scroll_by_hand(where)

    def action_ways(self) -> None:
        """Choose others. What runs goes on until they are chosen."""
        if (pair := self._engine.pair) is None:
            return
        from app.tui.screens.ways import WaysScreen  # with its own style sheet: not before it is wanted

        self.app.push_screen(WaysScreen(pair, self.comparison.ways, self._drafts), self._compare)

    def _compare(self, ways: tuple[Way, ...] | None) -> None:
        if ways is not None:
            self.run_worker(self._compare_others(ways), name="others", group="others", exit_on_error=False)

    async def _compare_others(self, ways: tuple[Way, ...]) -> None:
        """Stop what runs and begin anew with ``ways``."""
        await self._stop()
        before = self.comparison
        self.comparison = Comparison(ways, before.wanted, before.load, before.repetitions)
        self._memory, self._cause, self._failure, self._warming = [None for _ in ways], None, "", None
        self._sought = False
        panes = self.query_one("#panes")
        with self.app.batch_update():
            await panes.remove_children()
            await panes.mount(*self._panes())
        self._begin()

    async def _stop(self) -> None:
        """Until the engine is idle."""
        self.comparison.stopped = True
        while not self._over:
            await self._engine.cancel()
            await asyncio.sleep(0.02)

    async def action_close(self) -> None:
        """The chat needs the engine. What the runs showed that were made is left behind there."""
        runs = not self._over
        await self._stop()
        if runs and self.comparison.done < 1:
            self.left_behind = stopped_words(self.comparison, self._memory)
        self.dismiss(None)


def title_of(text: str) -> str:
    """A question in one line."""
    return clean_line(text, 120)
