"""The scorecard of a pair: asked for, measured by the chat's engine, and told with its rows, verdict and plot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from app.chats.readonly import UnreadableStoreError
from app.clean import clean, clean_line
from app.compare.bench import Bench
from app.compare.runs import Run, RunFailed
from app.compare.suite import Task
from app.score.card import judge
from app.score.measuring import RUNS, Stopped, bundled_tasks, measure, own_tasks, scoring, stop
from app.tui.background import aside
from app.tui.keys import SCORE
from app.tui.widgets.gain_chart import GainChart
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.score_card import ScoreCard
from app.tui.widgets.score_header import ScoreHeader
from app.tui.widgets.score_runs import ScoreRuns
from app.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from app.tui.ports import Engine
    from engine.protocol import GenerateSettings, LoadSettings

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 1 / 8


class ScoreScreen(Screen[None]):
    """The engine must be idle and stay so; it is idle again when the screen is left."""

    CSS_PATH: ClassVar = ["score.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*SCORE]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012

    def __init__(
        self,
        engine: Engine,
        load: LoadSettings,
        title: str,
        wanted: GenerateSettings,
        store: Path | None,
        *,
        leaves: str = "",
    ) -> None:
        """``title``: what the pair is called; ``wanted``: how answers are sampled; ``store``: the chats, for the user's
        own requests; ``leaves``: the model that has to make room for this one meanwhile."""
        super().__init__()
        self.began = False
        """Whether the engine was used."""
        self._engine, self._load, self._title, self._wanted = engine, load, title, wanted
        self._store, self._leaves = store, leaves
        self._own: Sequence[Task] = ()
        self._left_out = ""
        """What of the own requests cannot be read, in a sentence."""
        self._bench: Bench | None = None
        self._doing = ""
        self._over = True
        self._due = False

    def compose(self) -> ComposeResult:
        yield ScoreHeader(self._title)
        with VerticalScroll(id="score", can_focus=False):
            yield Static(id="question", markup=False)
            yield ScoreRuns()
            with Horizontal(id="card-and-chart"):
                yield ScoreCard()
                yield GainChart()
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_mount(self) -> None:
        self.query_one(ScoreRuns).display = False
        self.query_one("#card-and-chart").display = False
        self._ask()
        self.set_interval(FRAME_SECONDS, self._draw)
        self.run_worker(self._look_for_chats(), name="own chats", exit_on_error=False)

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)

    # ------------------------------------------------------------------------------------------------- the question

    async def _look_for_chats(self) -> None:
        """What of the user's own could be answered again; nothing of it is used without being asked for."""
        if self._store is None:
            return
        try:
            self._own, self._left_out = await aside(own_tasks, self._store, Path(self._load.target.path))
        except UnreadableStoreError as error:
            self._left_out = str(error)
        except OSError as error:
            log.warning("own requests were not looked for: %s", error)
        if self._bench is None:
            self._ask()
            self.refresh_bindings()

    def _ask(self) -> None:
        draft = ", with its draft" if self._load.draft else ""
        count = len(self._own)
        lines = [
            Content.styled("Does speculation pay with this pair on this machine?", "bold $foreground"),
            Content(),
            Content.styled(
                f"Short answers are made plainly, with lookup{draft} and on auto, {RUNS} runs of each.", "$muted"
            ),
            Content.styled("It takes minutes, and other work on this machine would distort it.", "$muted"),
        ]
        if self._leaves:
            words = f"{clean_line(self._leaves, 60)} leaves the engine meanwhile and is loaded again afterwards."
            lines.append(Content.styled(words, "$warning"))
        lines += [Content(), _choice("enter", "on the bundled prompts, one of each kind")]
        if count:
            requests = "request" if count == 1 else f"{count} requests"
            lines.append(_choice("o", f"on your own latest {requests} to this model, made again on this machine only"))
        if self._left_out:
            lines += [Content(), Content.styled(clean_line(self._left_out, 400), "$warning")]
        self.query_one("#question", Static).update(Content("\n").join(lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "begin":
            return self._bench is None
        if action == "own_chats":
            return self._bench is None and bool(self._own)
        return True

    def action_begin(self) -> None:
        self._begin(bundled_tasks(), own_chats=False)

    def action_own_chats(self) -> None:
        self._begin(self._own, own_chats=True)

    # ---------------------------------------------------------------------------------------------------- measuring

    def _begin(self, tasks: Sequence[Task], *, own_chats: bool) -> None:
        self._bench = scoring(tasks, self._wanted, self._load)
        self.began, self._over, self._due = True, False, True
        self._doing = "loading"
        self.query_one("#question").display = False
        self.query_one(ScoreRuns).display = True
        self.run_worker(self._measure(self._bench, own_chats), name="score", exit_on_error=False)
        self.refresh_bindings()

    async def _measure(self, bench: Bench, own_chats: bool) -> None:
        try:
            found = await measure(
                self._engine,
                bench,
                own_chats=own_chats,
                testing=lambda: self._do("measuring passes of 1 to 16 tokens"),
                changed=self._changed,
                warming=lambda way: self._do(f"warming up {way.label}"),
            )
            card = judge(found)
        except Stopped:
            self._fail("Stopped before everything was measured; a part of it tells nothing.")
        except RunFailed as error:
            self._fail(str(error))
        except Exception as error:
            log.exception("a score failed")
            self._fail(f"The score ended by a fault of Slipstream's own ({type(error).__name__}).")
        else:
            self.query_one(ScoreCard).show(card)
            self.query_one(GainChart).show(card.curve, card.curve_title)
            self.query_one("#card-and-chart").display = True
            self.query_one(ScoreRuns).display = False
            self._end("done")

    def _do(self, what: str) -> None:
        self._doing, self._due = what, True

    def _changed(self, task: Task, run: Run) -> None:
        self._do(f"{task.category}, {run.way.label}")

    def _fail(self, sentence: str) -> None:
        question = self.query_one("#question", Static)
        question.update(Content.styled(clean(sentence), "$warning"))
        question.display = True
        self.query_one(ScoreRuns).display = False
        self._end("not measured")

    def _end(self, words: str) -> None:
        self._over, self._doing, self._due = True, words, True
        self._draw()
        self.refresh_bindings()

    def _draw(self) -> None:
        """A frame, where something has changed since the last one."""
        if not self._due or not self.is_mounted or self._bench is None:
            return
        self._due = False
        self.query_one(ScoreHeader).show(self._bench, self._doing, over=self._over)
        if not self._over:
            self.query_one(ScoreRuns).show(self._bench)

    # ----------------------------------------------------------------------------------------------------- the keys

    def action_scroll(self, where: str) -> None:
        """``up``, ``down``, ``page_up`` or ``page_down``."""
        getattr(self.query_one("#score", VerticalScroll), f"scroll_{where}")(animate=False)

    async def action_close(self) -> None:
        """Stop what runs, and wait until the engine is idle: the chat needs it."""
        while not self._over and self._bench is not None:
            stop(self._bench)
            await self._engine.cancel()
            await asyncio.sleep(0.02)
        self.dismiss(None)


def _choice(key: str, words: str) -> Content:
    return Content.assemble((f"{key:<7}", "bold $accent"), (words, "$foreground"))
