"""What the state of the engine makes worth saying above the composer, each thing once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.tui.engine_state import EngineState
    from app.tui.widgets.notice import Severity
    from engine.protocol import Failed, SpeculationMode


def refused_words(reason: str, mode: SpeculationMode) -> str:
    """The sentence about a refused draft, the same as in the receipt of an answer that was to use it."""
    return f"draft refused: {reason}" + ("; lookup is used" if mode in ("draft", "auto") else "")


class Speaks(Protocol):
    def say(self, text: str, severity: Severity = "information") -> None: ...

    def add(self, text: str, severity: Severity = "warning") -> None: ...

    def in_sight(self, words: str) -> bool:
        """Whether the last answer of the chat, which stands right above, says this already."""


class EngineNews:
    """Remembers what was said last. ``no_model``: what to say where there is none to load; ``refused``: why a draft is
    left out, where that was said before there was an engine."""

    def __init__(self, notices: Speaks, no_model: str, refused: str | None = None) -> None:
        self.no_model = no_model
        self._notices = notices
        self._refused = refused or ""
        """What was said last about a draft that was refused."""
        self._another_pair = False
        """Another one was asked for, whose draft may be refused for the same reason."""
        self._told: Failed | None = None
        self._fell_back: Failed | None = None

    def pair_wanted(self) -> None:
        """Another pair was asked for."""
        self.no_model, self._another_pair = "", True

    def was_told(self, failure: Failed) -> None:
        """Somebody else has said it."""
        self._told = failure

    def tell(self, state: EngineState, mode: SpeculationMode, speaker: str, *, answering: bool) -> None:
        """Say what is new in ``state``. ``answering``: what fails now is said under the answer."""
        self._tell_refused(state, mode)
        if state.failure is not None and state.failure is not self._told and not answering:
            self._told = state.failure
            self._notices.say(state.failure.message, "error")
        if state.instead_of is not None and state.instead_of is not self._fell_back:
            self._fell_back = state.instead_of
            self._notices.add(state.instead_of.message, "error")
            self._notices.add(f"{speaker} answers as before.", "error")

    def _tell_refused(self, state: EngineState, mode: SpeculationMode) -> None:
        if state.pair is None and self._another_pair:
            self._refused, self._another_pair = "", False
        reason = state.pair.draft_refused if state.pair else None
        if reason and reason != self._refused:
            self._refused = reason
            words = refused_words(reason, mode)
            if not self._notices.in_sight(words):
                self._notices.add(words, "warning")

    def said(self, words: str, mode: SpeculationMode) -> bool:
        """Whether ``words`` is what was said of the draft that is refused now."""
        return bool(self._refused) and words == refused_words(self._refused, mode)

    def tell_no_model(self, state: EngineState) -> None:
        """A message was sent and there is nothing to answer it."""
        if self.no_model and state.pair is None:
            self._notices.add(self.no_model, "warning")

    def tell_again(self, state: EngineState) -> None:
        """What hinders answers is said again after notices were cleared."""
        if state.pair is not None:
            return
        if state.failure is not None and not self.no_model:
            self._notices.add(state.failure.message, "error")
        else:
            self.tell_no_model(state)
