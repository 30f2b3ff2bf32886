"""The first row: where one is, which models answer, what was proven about them, how full the context is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual import events
from textual.content import Content
from textual.reactive import reactive

from app.clean import clean_line
from app.percent import written
from app.receipt import backend_words, short_count
from app.tui.engine_state import EngineState
from app.tui.names import full_name, pair_name
from app.tui.widgets.line import Line

if TYPE_CHECKING:
    from engine.protocol import PairInfo

AMBER: Final = 0.75
RED: Final = 0.90
METER_CELLS: Final = 8
WIDE: Final = 98
"""What a terminal of 100 columns leaves inside the padding."""
NOT_SAVED: Final = "not saved"
DOT: Final = Content.styled(" · ", "$faint")


class Header(Line):
    """Title at the left, pair, badge and context at the right; narrow screens keep title and context."""

    title: reactive[str] = reactive("")
    state: reactive[EngineState] = reactive(EngineState, always_update=True)
    used: reactive[int] = reactive(0)
    written: reactive[int] = reactive(0)
    """About how many tokens the composer holds."""
    unsaved: reactive[bool] = reactive(False)
    """Something is in memory only; stays until it is on disk."""
    getting: reactive[str] = reactive("")
    """How far the downloads are that go on behind the chat: ``↓ 41 %``."""
    target_path: str = ""
    """What is being loaded, before the engine can say its name."""

    def parts(self, width: int) -> tuple[Content, Content]:
        wide = width >= WIDE
        title = Content.styled(clean_line(self.title, 80) or "new chat", "$foreground" if self.title else "$muted")
        left = Content.assemble(("slipstream", "bold $accent"), "   ", title) if wide else title
        signs = [Content.styled(NOT_SAVED, "bold $warning")] if self.unsaved else []
        if self.getting:
            signs.append(Content.styled(self.getting, "$accent"))
        taken = sum(sign.cell_length + 3 for sign in signs)
        return left, DOT.join([*signs, self._engine(wide, width - taken)])

    def _engine(self, wide: bool, width: int) -> Content:
        state = self.state
        if state.pair is not None:
            context = context_meter(self.used, state.pair.context, written=self.written, bar=wide)
            if not wide:
                return context
            badge = state.pair.badge if width >= 112 or len(state.pair.badge) < 10 else state.pair.badge.split(", ")[-1]
            target = state.pair.target
            backend = backend_words(state.pair.backend, target.layers, target.gpu_layers)
            return DOT.join(
                [
                    Content.styled(self._pair(state.pair, max(26, width - 77 - len(backend))), "$muted"),
                    Content.styled(clean_line(backend, 24), "$muted"),
                    Content.styled(clean_line(badge, 30), "$muted"),
                    context,
                ]
            )
        if state.is_loading:
            return Content.styled(self.loading_words(), "$accent")
        if state.stopped:
            return Content.styled("engine stopped", "$warning")
        return Content.styled("no model loaded", "$warning")

    async def on_click(self, event: events.Click) -> None:
        """The meter leads to what can be done about the context."""
        pair = self.state.pair
        if pair is not None:
            meter = context_meter(self.used, pair.context, bar=self.content_size.width >= WIDE)
            if event.x - self.gutter.left >= self.content_size.width - meter.cell_length:
                await self.run_action("screen.context")

    @staticmethod
    def _pair(pair: PairInfo, room: int) -> str:
        """Both models; the draft's quantization is the first thing to go where there is no room for it."""
        whole = pair_name(pair, draft_whole=True)
        return whole if len(whole) <= room else clean_line(pair_name(pair), room)

    def loading_words(self) -> str:
        """``loading SmolLM2-135M Q4_1  40 %``."""
        loading = self.state.loading
        name = full_name(self.target_path) if self.target_path else "the model"
        if loading is None:
            return f"loading {name}"
        return f"loading {name if loading.what == 'target' else 'the draft'} {written(100 * loading.fraction):>5}"


def context_meter(used: int, size: int, *, written: int = 0, bar: bool = True) -> Content:
    """``ctx 1.2k/8k ━━──────``, warm from 75 %, hot from 90 %. ``written``: tokens that wait in the composer; they
    are shown, in a weaker colour, where they bring it there."""
    used = min(used, size)  # the token that did not fit any more is counted, too
    share = (used + written) / size if size else 0.0
    colour = "$error" if share >= RED else "$warning" if share >= AMBER else "$accent"
    text = Content.styled(f"ctx {short_count(used)}/{short_count(size)}", "$muted" if share < AMBER else colour)
    if not bar:
        return text
    filled = _cells(used, size)
    coming = _cells(used + written, size) - filled if share >= AMBER else 0
    rest = METER_CELLS - filled - coming
    return Content.assemble(text, " ", ("━" * filled, colour), ("━" * coming, f"{colour} 45%"), ("━" * rest, "$rule"))


def _cells(tokens: int, size: int) -> int:
    return min(METER_CELLS, max(1 if tokens else 0, round(tokens / size * METER_CELLS))) if size else 0
