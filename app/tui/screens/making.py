"""How the answers of a chat are made: its settings, who may propose, and which pair answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events, on

from app.receipt import notes
from app.tui import chosen_mode
from app.tui.chat_settings import merged, system_prompt
from app.tui.overflow_policy import for_engine
from app.tui.screens.opening import OpeningScreen
from app.tui.widgets.speculation_picker import SpeculationPicker

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.compare.ways import Way
    from engine.protocol import GenerateSettings, LoadSettings, SpeculationMode


class MakingScreen(OpeningScreen):
    """See the module's text."""

    in_lines = False
    store: ChatStore
    defaults: GenerateSettings
    """How answers are made where the chat says nothing."""
    system_prompt: str
    """The one of chats that have none of their own."""

    def settings_now(self) -> GenerateSettings:
        """How answers of this chat are made: the defaults, and what the chat does otherwise."""
        settings = merged(self.defaults, self.chat.conversation.settings)
        return settings.model_copy(update={"overflow": for_engine(self.overflowing.policy)})

    def settings(self) -> GenerateSettings:
        """How the next answer is to be made."""
        messages = self.chat.prompt(system_prompt(self.system_prompt, self.chat.conversation.settings))
        return self.settings_now().model_copy(update={"messages": messages})

    def keep_settings(self, own: Mapping[str, object]) -> None:
        """What this chat does otherwise than the defaults, from now on."""
        self.chat.save_settings(own)
        self.engine_changed()

    def choose_mode(self, mode: SpeculationMode) -> None:
        """Who may propose, from the next answer on."""
        chosen_mode.choose(self, mode)

    def in_sight(self, words: str) -> bool:
        """Whether the last answer says this already."""
        last = self.chat.turns(len(self.chat) - 1, len(self.chat))
        proof = last[0].figures.receipt() if last and last[0].figures is not None else None
        return proof is not None and words in notes(proof)

    @property
    def mode(self) -> SpeculationMode:
        """Who may propose tokens for the next answer of this chat."""
        return self.settings_now().speculation

    @property
    def target_path(self) -> str:
        """The file that answers, or will."""
        return self.answering.load.target.path if self.answering.load else ""

    # ------------------------------------------------------------------------------------------------ speculation

    def action_speculation(self) -> None:
        self.query_one(SpeculationPicker).open(self.mode, self.answering.state.pair, self._write_on)
        self.refresh_bindings()

    @on(SpeculationPicker.Chosen)
    def _chosen(self, event: SpeculationPicker.Chosen) -> None:
        if chosen_mode.is_news(self, event.mode):
            self.choose_mode(event.mode)
        self._picked()

    @on(SpeculationPicker.Closed)
    def _picked(self) -> None:
        self.query_one(SpeculationPicker).close()
        self.set_focus(self.composer)
        self.engine_changed()

    def _write_on(self, event: events.Event) -> None:
        """Who writes on has decided: it stays as it was."""
        self._picked()
        self.composer._forward_event(event)

    # ------------------------------------------------------------------------------------------------ another pair

    def use(self, load: LoadSettings, words: str, *, drafting: bool = False) -> None:
        """Answer with another pair from now on; the chat stays. ``drafting``: its draft was chosen on purpose."""
        self.news.pair_wanted()
        self.notices.clear()
        if drafting and self.mode in ("off", "lookup"):
            self.keep_settings({**self.chat.conversation.settings, "speculation": "auto"})
        self.say(words)
        self.answering.switch(load)
        self.engine_changed()

    def keep_way(self, way: Way | None, *, loaded_others: bool = False) -> None:
        """What a comparison ended with: how the next answers are made. See :mod:`app.tui.kept_way`."""
        from app.tui.kept_way import keep_way

        keep_way(self, way, loaded_others=loaded_others)
        self.engine_changed()
