"""``/models``, ``/model`` and ``/draft``: the models of this disk, and the way to another pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.clean import clean_line
from app.library.records import ShelfError
from app.library.words import state_words
from app.tui.chosen_pair import ChosenPair
from app.tui.model_choice import uses
from app.tui.ports import plain_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.by_name import ByName
    from app.last_choice import Memory
    from app.library.records import Entry, Library, Listing
    from app.plain.chat import PlainChat
    from app.tui.model_choice import Choice
    from app.tui.overflow_policy import Policy
    from app.tui.ports import PairRequest
    from engine.protocol import SpeculationMode


class PlainModels:
    """What the commands of the screen ask its app for."""

    def __init__(
        self,
        chat: PlainChat,
        make: Callable[[], Library] | None,
        pair_request: PairRequest | None,
        memory: Memory | None,
        by_name: ByName,
        overflow: Policy,
    ) -> None:
        """``make``: makes the library when it is wanted; ``memory``: where choices are kept for the next start."""
        self.listing: Listing | None = None
        self.library: Library | None = None
        self.by_name = by_name
        self.overflow = overflow
        self._chat = chat
        self._make = make
        self._pair_request = pair_request or plain_request
        self._memory = memory
        self._chosen = ChosenPair(memory)
        chat.dialogue.answering.loaded = self._chosen.loaded

    @property
    def has_library(self) -> bool:
        """Whether models can be looked up."""
        return self._make is not None

    def open_library(self) -> Library | None:
        """What knows the models; made when it is wanted for the first time."""
        if self.library is None and self._make is not None:
            self.library = self._make()
        return self.library

    def look_for_models(self) -> None:
        """For completions, which a chat in lines does not have."""

    def action_models(self) -> None:
        """The models that can answer now, one a line."""
        library, load = self.open_library(), self._chat.answering.load
        if library is None:
            return
        target, draft = (load.target.path, load.draft.path if load.draft else "") if load else ("", "")
        try:
            self.listing = listing = library.listing((target, ""))
        except ShelfError as error:
            self._chat.say(str(error), "warning")
            return
        used = uses(listing, target, draft)
        here = [entry for entry in listing.entries if entry.usable]
        lines = [*listing.complaints, *(_line(entry, used.get(entry.key, "")) for entry in here)]
        lines.append("/model NAME answers with one of them, /draft NAME proposes with one.")
        lines.append("On the command line, slipstream models lists all there are, and fetches them.")
        self._chat.lines.say("\n".join(lines))

    def use(self, choice: Choice | None) -> None:
        """The chat goes on with another pair."""
        if choice is None:
            return
        self.listing = None
        self._chosen.use(self._chat, choice, self._pair_request)

    def keep_mode(self, mode: SpeculationMode) -> bool:
        """Remember ``mode`` for the next start; whether choices are remembered. Nobody chooses from a pipe."""
        if self._memory is None or not self._chat.interactive:
            return False
        self._memory.keep_speculation(mode)
        return True


def _line(entry: Entry, used: str) -> str:
    """``qwen3-4b: Qwen3-4B with 0.6B, ready, in use``."""
    words = ", ".join(filter(None, [clean_line(entry.title, 60), state_words(entry), used]))
    return f"{clean_line(entry.key, 200)}: {words}"
