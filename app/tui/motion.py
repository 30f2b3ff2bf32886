"""Less motion, for those whom it disturbs: nothing slides, and an answer grows in steps.

It is wished for with ``motion = "reduced"`` in settings.toml, or by ``TEXTUAL_ANIMATIONS=none`` in the environment;
either way it is Textual's animation level.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from textual.widgets import Input, TextArea

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

STEP_SECONDS: Final = 0.25
"""What is drawn again and again is not drawn more often than that."""
HOLD: Final = 200
"""Characters that wait for the end of their sentence; more of them come as far as the last word."""

_END: Final = re.compile(r".*(?:\n|[.!?:;]\s)", re.DOTALL)
_WORDS: Final = re.compile(r".*\s", re.DOTALL)


def reduced(app: App[Any]) -> bool:
    """Whether there is to be less motion."""
    return app.animation_level == "none"


def reduce_motion(app: App[Any]) -> None:
    """From now on less motion. To be called before there are widgets."""
    app.animation_level = "none"


def calm(widget: Widget) -> None:
    """No blinking cursor, for anybody: a blink is a timer, and a frame drawn, while nothing happens."""
    if isinstance(widget, Input | TextArea):
        widget.cursor_blink = False


def every(app: App[Any], seconds: float) -> float:
    """How often to draw what is drawn every ``seconds`` otherwise."""
    return max(seconds, STEP_SECONDS) if reduced(app) else seconds


def take(fresh: list[str], *, steps: bool) -> str:
    """The text that came, taken out of ``fresh``. ``steps``: whole lines and sentences of it, the rest waits there."""
    text = "".join(fresh)
    fresh.clear()
    if not steps:
        return text
    end = _END.match(text) or (_WORDS.match(text) if len(text) > HOLD else None)
    shown = end[0] if end else text if len(text) > 2 * HOLD else ""
    if rest := text[len(shown) :]:
        fresh.append(rest)
    return shown
