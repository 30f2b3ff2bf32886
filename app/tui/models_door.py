"""Between the chat and its models: opens their screen, watches downloads, suggests a first pair, remembers choices."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.library.gpus import given_back, own_memory
from app.library.records import Library, Listing, ShelfError
from app.receipt import backend_words
from app.tui.background import aside
from app.tui.chosen_pair import ChosenPair
from app.tui.fetching import DownloadWatch
from app.tui.model_choice import Choice
from app.tui.widgets.first_steps import Action, FirstSteps
from app.tui.widgets.welcome import Welcome
from engine.protocol import Described, SpeculationMode

if TYPE_CHECKING:
    from app.last_choice import Memory
    from app.library.records import Entry
    from app.tui.app import SlipstreamApp
    from engine.protocol import Device, LoadSettings

log = logging.getLogger(__name__)

AFTER_FIRST_PAINT: Final = 0.3
"""Seconds after which the background may be busy."""
ON_THIS_DISK: Final = "on this disk"
"""What the headings of files that were found have in common."""


class ModelsDoor:
    """One for the app. The library is made when it is needed for the first time."""

    def __init__(
        self,
        app: SlipstreamApp,
        make: Callable[[], Library] | None,
        memory: Memory | None = None,
        *,
        first_run: bool = False,
    ) -> None:
        """``memory``: where choices are kept for the next start; ``first_run``: nothing but the starter was ever used,
        so the empty chat says what else there is."""
        self.library: Library | None = None
        self.listing: Listing | None = None
        """The models of this disk, once somebody has asked for them."""
        self._looking = False
        self._app = app
        self._make = make
        self._memory = memory
        self._first_run = first_run and make is not None
        self._best = ""
        self._gpus: tuple[Device, ...] = ()
        self._watch: DownloadWatch | None = None
        self._chosen = ChosenPair(memory)

    @property
    def there(self) -> bool:
        """Whether there is anything behind it."""
        return self._make is not None

    def on_ready(self) -> None:
        """The chat is on the screen."""
        if (chat := self._app.chat_screen) is None:
            return
        chat.answering.loaded = self._loaded
        if chat.answering.state.pair is not None:
            self._ask_for_gpus()
        if self._first_run:
            chat.query_one(Welcome).offer(None)
            self._app.run_worker(self._suggest(), name="suggest", exit_on_error=False)

    # ------------------------------------------------------------------------------------------------- the screen

    def open(self, *, get: str = "", search: str = "") -> None:
        """The Models screen over the chat, which goes on behind it. ``get``: the entry to begin with, whose plan is
        asked for at once; ``search``: what the list is narrowed down to."""
        chat = self._app.chat_screen
        if chat is None or self._make is None or self._app.screen is not chat:
            return
        from app.tui.screens.models import ModelsScreen  # with its own style sheets: not before it is wanted

        library = self.made()
        assert library is not None
        self._watch = self._watch or DownloadWatch(self._app, library, lambda: self._app.chat_screen)
        pair = chat.answering.state.pair
        backend = backend_words(pair.backend, pair.target.layers, pair.target.gpu_layers) if pair else ""
        began = self._watch.begin
        screen = ModelsScreen(
            library, chat.answering.load, backend, began=began, get=get, search=search, score=self._score
        )
        self._app.push_screen(screen, self._app.use)

    def _score(self, entry: Entry) -> str:
        from app.tui.scoring import score_entry  # with the benchmark behind it: not before it is wanted

        return score_entry(self._app, entry)

    def made(self) -> Library | None:
        """What knows the models, made when it is wanted for the first time; None: there is nothing behind this door."""
        if self.library is None and self._make is not None:
            return self._hold(self._make())
        return self.library

    def _hold(self, library: Library) -> Library:
        if self.library is None:
            self.library = library
            library.see_gpus(self._gpus)
        return self.library

    def look(self) -> None:
        """Read what is on the disk, for those who want to know its names; the composer looks again when it is done."""
        library = self.made()
        if library is not None and not self._looking:
            self._looking = True
            self._app.run_worker(self._look(library), group="listing", exclusive=True, exit_on_error=False)

    async def _look(self, library: Library) -> None:
        try:
            self.listing = await aside(library.listing)
        except ShelfError as error:
            self.listing = Listing(())
            log.warning("models were not listed: %s", error)
        finally:
            self._looking = False
        if (chat := self._app.chat_screen) is not None:
            chat.call_next(chat.writing.look)

    def use(self, choice: Choice | None) -> None:
        """The chat goes on with another pair; None: as before."""
        self.listing = None  # a file may have come or gone: the next one who asks for names has them read anew
        app, chat = self._app, self._app.chat_screen
        if choice is None or chat is None:
            return
        self._first_run = False
        chat.query_one(Welcome).settle()
        self._chosen.use(chat, choice, app.pair_request)

    def use_window(self, size: int, words: str) -> None:
        """The pair that answers is loaded again, with a context of ``size`` tokens. The next start has it, too, if the
        pair is the one that was chosen last."""
        chat = self._app.chat_screen
        held = chat.answering.load if chat is not None else None
        if chat is None or held is None:
            return
        load = held.model_copy(update={"context": size})
        if self._memory is not None and self._memory.read().target == held.target.path:
            self._chosen.note(load, Choice(held.target.path, held.draft.path if held.draft else "", words, size))
        chat.use(load, words)

    @property
    def gpus(self) -> tuple[Device, ...]:
        """Those with memory of their own, as they are without the pair that is loaded."""
        return self._gpus

    # ------------------------------------------------------------------------------------------------ remembering

    def _loaded(self, load: LoadSettings) -> None:
        """If it was chosen, the next start begins with it."""
        self._ask_for_gpus()
        self._chosen.loaded(load)

    def keep_mode(self, mode: SpeculationMode) -> bool:
        """Who may propose was chosen. Whether that is remembered."""
        if self._memory is not None:
            self._memory.keep_speculation(mode)
        return self._memory is not None

    # ------------------------------------------------------------------------------------------------ first steps

    async def _suggest(self) -> None:
        """What there is to begin with on this machine, looked for in the background."""
        assert self._make is not None
        await asyncio.sleep(AFTER_FIRST_PAINT)
        made = await aside(self._make)
        await self._offer(self._hold(made))

    async def _offer(self, library: Library) -> None:
        try:
            suggestion = await aside(library.suggestion)
        except ShelfError as error:
            log.warning("nothing is suggested: %s", error)
            return
        if self._first_run and (chat := self._app.chat_screen) is not None:
            self._best = suggestion.best.key if suggestion.best is not None else ""
            chat.query_one(Welcome).offer(suggestion)

    def _ask_for_gpus(self) -> None:
        self._app.run_worker(self._see_gpus(), name="gpus", exit_on_error=False)

    async def _see_gpus(self) -> None:
        """Ask the engine which GPUs there are; until it has said so main memory alone counts.

        Never given up halfway: the client would take an engine that is busy for one that is deaf.
        """
        described = await self._app.engine.describe()
        chat = self._app.chat_screen
        if not isinstance(described, Described) or not described.gpu_offload or chat is None:
            return
        pair = chat.answering.state.pair
        loaded = [model for model in (pair.target, pair.draft) if model is not None] if pair else []
        if gpus := given_back(own_memory(described.devices), loaded):
            self._gpus = gpus
            if self.library is not None:
                self.library.see_gpus(gpus)
                if self._first_run:
                    await self._offer(self.library)

    def begin_with(self, action: Action) -> None:
        """An entry of the empty chat was chosen."""
        match action:
            case "best":
                self.open(get=self._best)
            case "local":
                self.open(search=ON_THIS_DISK)
            case "start":
                if (chat := self._app.chat_screen) is not None:
                    chat.query_one(FirstSteps).action_leave()
