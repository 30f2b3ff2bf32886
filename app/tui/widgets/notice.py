"""What has to be said but belongs to no answer: a few lines above the composer that cover nothing."""

from __future__ import annotations

from typing import Final, Literal

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from app.clean import clean

Severity = Literal["information", "warning", "error"]
SEVERITIES: Final[tuple[Severity, ...]] = ("information", "warning", "error")
HINT_SECONDS: Final = 6.0


class NoticeLine(VerticalScroll, can_focus=False):
    """One notice at a time. A hint goes by itself; a warning stays until the next message is sent or esc. What is
    longer than the place for it can be scrolled, and what has come last is in view."""

    _timer: Timer | None = None
    severity: Severity = "information"
    text = ""
    _reply: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._words = Static(markup=False)
        self._told: dict[str, tuple[str, Severity]] = {}
        """Line -> what it speaks of, and how bad that is."""

    def compose(self) -> ComposeResult:
        yield self._words

    def on_mount(self) -> None:
        self.display = False

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show ``text``, as data. A hint never hides a warning."""
        if severity == "information" and self.display and self.severity != "information":
            return
        self.clear()
        self.text, self.severity = text, severity
        self.set_classes(severity)
        self._words.update(Content(clean(text)))
        self.display = True
        self.scroll_home(animate=False)
        if severity == "information":
            self._timer = self.set_timer(HINT_SECONDS, self.clear)

    def add(self, text: str, severity: Severity) -> None:
        """Show ``text`` below a warning that stands there already, which is not lost."""
        standing = self.text if self.display and self.severity != "information" else ""
        if text in standing.split("\n"):
            return
        both = [line for line in standing.split("\n") if line and line not in text.split("\n")]
        worst: Severity = "error" if both and self.severity == "error" else severity
        self.say("\n".join([*both, text]), worst)
        self._show_last(below=bool(both))

    def also(self, text: str, severity: Severity, about: str = "") -> None:
        """Show ``text`` below whatever stands there, hint or warning: nothing of both is lost. ``about``: what it
        speaks of, for :meth:`take_back`."""
        standing = self.text.split("\n") if self.display else []
        self._told |= dict.fromkeys(text.split("\n"), (about, severity))
        if text in standing:
            return
        worst = max(severity, self.severity if standing else severity, key=SEVERITIES.index)
        self.say("\n".join([*standing, text]), worst)
        self._show_last(below=bool(standing))

    def take_back(self, about: str) -> None:
        """What was said of this is not true any more; the rest stays."""
        lines = [(line, *self._told.get(line, ("", self.severity))) for line in self.text.split("\n")]
        kept = [(line, severity) for line, of, severity in lines if of != about]
        if len(kept) == len(lines):
            return
        self.clear()
        if kept:
            worst = max((severity for _, severity in kept), key=SEVERITIES.index)
            self.say("\n".join(line for line, _ in kept), worst)

    def reply(self, text: str, severity: Severity) -> None:
        """What a command has to say: in the place of the reply before it, below a warning that stands there."""
        standing = self.severity
        kept = [line for line in self.text.split("\n") if line and line not in self._reply]
        if not self.display or standing == "information":
            kept = []
        self.clear()
        self.say("\n".join([*kept, text]), standing if kept else severity)
        self._reply = tuple(text.split("\n"))
        self._show_last(below=bool(kept))

    def _show_last(self, *, below: bool) -> None:
        """What was said last, where it stands ``below`` something."""
        if below:
            self.scroll_end(animate=False)

    def clear(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.text = ""
        self._reply = ()
        self.display = False
