"""An answer made again, token by token, in a panel over the chat: how far it is, and what was found."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.clean import clean, clean_line
from app.replay.again import CannotReplay, Manner, Outcome, how_words, make_again
from app.replay.kept import KeptAnswer
from app.replay.shown import details
from app.replay.steps import CHECKING, Step
from app.tui.background import aside
from app.tui.keys import REPLAY
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.line import Line
from engine.protocol import Failed

if TYPE_CHECKING:
    from app.tui.ports import Engine

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 1 / 8
CELLS: Final = 12
MAKING: Final = "Making it again and comparing every token…"


class ReplayHeader(Line):
    """``replay · “Rivers of Europe”  with speculation auto          120/512  ▇▇▇▁▁▁``."""

    def __init__(self, answer: KeptAnswer, manner: Manner) -> None:
        super().__init__()
        how = "by its own passes" if manner == "passes" and answer.receipt.passes else how_words(answer, manner)
        self._left = Content.assemble(
            ("replay", "bold $accent"),
            (" · ", "$faint"),
            (f"“{clean_line(answer.chat, 60)}”", "$foreground"),
            (f"  {how}", "$faint"),
        )
        self._right = Content()

    def show(self, done: int, total: int) -> None:
        """Tokens; a ``total`` of 0 shows nothing."""
        filled = round(min(1.0, done / total) * CELLS) if total else 0
        self._right = Content.assemble(
            (f"{done:,}/{total:,}  ", "$muted"), ("▇" * filled, "$accent"), ("▁" * (CELLS - filled), "$rule")
        )
        self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        return self._left, self._right


class ReplayScreen(ModalScreen[None]):
    """Begins by itself where nothing has to be loaded for it, else asks. The engine must be idle and stay so."""

    CSS_PATH: ClassVar = ["replay.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*REPLAY]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]  # noqa: RUF012

    def __init__(self, engine: Engine, answer: KeptAnswer, manner: Manner, swap: str) -> None:
        """``swap``: what has to be loaded for it, in a sentence; empty: nothing has."""
        super().__init__()
        self.began = False
        """Whether the engine was used."""
        self._engine, self._answer, self._manner, self._swap = engine, answer, manner, swap
        self._stopped, self._over = False, True
        self._step: Step | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="replay"):
            yield ReplayHeader(self._answer, self._manner)
            with VerticalScroll(id="told", can_focus=False):
                yield Static(id="found", markup=False)
                yield Static(id="details", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#details").display = False
        self.set_interval(FRAME_SECONDS, self._draw)
        if self._swap:
            self._say(self._swap, "$warning")
        else:
            self.action_begin()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "scroll":
            return self.is_mounted and self.query_one("#told", VerticalScroll).max_scroll_y > 0
        return not self.began if action == "begin" else True

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_bindings)  # whether there is anything to scroll

    def action_begin(self) -> None:
        self.began, self._over = True, False
        self._say(MAKING, "$muted")
        self.run_worker(self._run(), name="replay", exit_on_error=False)
        self.refresh_bindings()

    async def _run(self) -> None:
        outcome, failure = None, ""
        try:
            outcome = await self._make_again()
        except CannotReplay as error:
            failure = str(error)
        except Exception as error:
            log.exception("a replay failed")
            failure = f"The replay ended by a fault of Slipstream's own ({type(error).__name__})."
        self._over = True
        if self._stopped:
            return  # a part of it tells nothing
        if outcome is None:
            self._say(failure, "$warning")
            return
        found = await aside(details, self._answer, outcome)
        self._say(outcome.words, "bold $foreground" if outcome.identical else "bold $warning")
        lines = self.query_one("#details", Static)
        lines.update(Content("\n").join(Content.styled(clean(line), "$muted") for line in found))
        lines.display = bool(found)
        self.call_after_refresh(self.refresh_bindings)

    async def _make_again(self) -> Outcome:
        described = await self._engine.describe()
        if isinstance(described, Failed):
            raise CannotReplay(described.message)
        return await make_again(self._engine, self._answer, self._manner, described.versions, self._changed)

    def _changed(self, step: Step) -> None:
        self._step = step
        if self._stopped and step.doing == CHECKING:  # there is no request that could be cancelled
            raise CannotReplay(step.words)

    def _draw(self) -> None:
        step, self._step = self._step, None
        if step is None or self._over:
            return
        if step.tokens:
            self.query_one(ReplayHeader).show(step.done, step.total)
        self._say(MAKING if step.tokens else f"{step.words[0].upper()}{step.words[1:]}", "$muted")

    def _say(self, words: str, style: str) -> None:
        self.query_one("#found", Static).update(Content.styled(clean(words), style))

    def action_scroll(self, where: str) -> None:
        """``up``, ``down``, ``page_up`` or ``page_down``."""
        getattr(self.query_one("#told", VerticalScroll), f"scroll_{where}")(animate=False)

    async def action_close(self) -> None:
        """Stop what runs, and wait until the engine is idle: the chat needs it."""
        self._stopped = not self._over
        while not self._over:
            await self._engine.cancel()
            await asyncio.sleep(0.02)
        self.dismiss(None)
