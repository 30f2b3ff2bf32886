"""The pair that was chosen in this run, on the screen or in lines: the chat and the next start go on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.tui.chosen_mode import begin_with

if TYPE_CHECKING:
    from app.last_choice import Memory
    from app.tui.model_choice import Choice
    from app.tui.ports import PairRequest
    from app.tui.surface import Surface
    from engine.protocol import LoadSettings


class ChosenPair:
    """The last one; it is remembered once it is loaded."""

    def __init__(self, memory: Memory | None) -> None:
        """``memory``: where choices are kept for the next start."""
        self._memory = memory
        self._chosen: tuple[LoadSettings, Choice] | None = None

    def use(self, chat: Surface, choice: Choice, pair_request: PairRequest) -> None:
        """``chat`` goes on with it."""
        load, held = pair_request(choice.target, choice.draft, choice.context), chat.answering.load
        if choice.drafting and held is not None:
            # All else as it is, so that the target stays loaded.
            load = held.model_copy(update={"draft": load.draft, "draft_refused": load.draft_refused})
        self.note(load, choice)
        chat.use(load, choice.words, drafting=choice.drafting)
        if choice.drafting:
            begin_with(chat, chat.mode)  # a draft was chosen, so one may propose

    def note(self, load: LoadSettings, choice: Choice) -> None:
        """It is asked for now."""
        self._chosen = load, choice

    def loaded(self, load: LoadSettings) -> None:
        """If it was chosen, the next start begins with it."""
        if self._memory is None or self._chosen is None or self._chosen[0] is not load:
            return
        choice = self._chosen[1]
        if choice.drafting:
            self._memory.keep_draft(choice.target, choice.draft)
        else:
            self._memory.keep_pair(choice.target, choice.draft, choice.context)
