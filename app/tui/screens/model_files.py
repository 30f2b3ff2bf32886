"""What the Models screen does with files: fetch, pause, give up, delete, and the question before each."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from textual import on
from textual.screen import Screen

from app.library.records import Entry, Getting, Library, Offer, Removal, ShelfError
from app.tui.background import aside, beside
from app.tui.keymap import key_of
from app.tui.model_choice import Choice, same
from app.tui.widgets.facts import Facts
from app.tui.widgets.model_table import ModelTable
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.question import Question
from engine.files.sizes import size_words

log = logging.getLogger(__name__)


class FileActions(Screen[Choice | None]):
    """The half of the screen that changes the disk. The other half is :class:`app.tui.screens.models.ModelsScreen`."""

    library: Library
    target: str
    """Path of the file that answers now."""
    draft: str
    """Path of its draft, or nothing."""
    downloads: Mapping[str, Getting]

    @property
    def entry(self) -> Entry | None:
        """The highlighted one."""
        return self.query_one(ModelTable).entry

    def look_again(self) -> None:
        """What the downloads do; called after each key that changes one."""
        raise NotImplementedError

    def offer_keys(self) -> None:
        """Other keys may do something now."""
        raise NotImplementedError

    def action_refresh(self) -> None:
        """Read the list anew."""
        raise NotImplementedError

    def download_began(self) -> None:
        """For whoever watches downloads behind this screen."""
        raise NotImplementedError

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice below the list; one that stands there already gives way."""
        self.query_one(NoticeLine).clear()
        self.query_one(NoticeLine).say(text, severity)

    # --------------------------------------------------------------------------------------------- fetching

    def action_get(self) -> None:
        if (entry := self.entry) is not None:
            self.begin("plan", self.plan, entry.key, entry.title)

    async def plan(self, wanted: str, title: str) -> None:
        """Ask the hub what ``wanted`` means, and the person whether to fetch it. esc ends the waiting, too."""
        self.ask(f"Asking the hub about {title}…", "", None)
        try:
            offer = await aside(self.library.plan, wanted)
        except ShelfError as error:
            self.ask(f"{title} cannot be fetched now.", "", None, refusal=str(error))
            return
        if offer.replaceable:
            words = f"{offer.refusal} Or enter shows what would be lost if it was replaced.\n\n{offer.text}"
            ask_again = partial(self.begin, "plan", self._plan_replacing, offer)
            self.ask(f"A file of yours lies where {title} would go.", words, ask_again)
        elif offer.refusal:
            self.ask(f"{title} cannot be fetched.", offer.text, None, refusal=offer.refusal)
        else:
            self.ask(f"Fetch {size_words(offer.missing)}?", offer.text, lambda: self._fetch(offer))

    async def _plan_replacing(self, offer: Offer) -> None:
        """Show the person what would be lost, and ask. esc ends the reading, too, and changes nothing."""
        self.ask(f"Reading {', '.join(offer.replaceable)}…", "", None)
        try:
            offer = await aside(self.library.replacing, offer)
        except ShelfError as error:
            self.ask(f"{offer.title} cannot be fetched.", offer.text, None, refusal=str(error))
            return
        if offer.refusal:
            self.ask(f"{offer.title} cannot be fetched.", offer.text, None, refusal=offer.refusal)
            return
        lost = len(offer.replaced)
        title = f"Fetch {size_words(offer.missing)} and replace {lost} file{'s' * (lost > 1)} of yours?"
        self.ask(title, offer.text, lambda: self._fetch(offer))

    def _fetch(self, offer: Offer) -> None:
        self.begin(f"start {offer.key}", self._start, offer)

    async def _start(self, offer: Offer) -> None:
        await aside(self.library.start, offer)
        self.look_again()
        self.download_began()
        self.action_refresh()

    def action_pause(self) -> None:
        if (entry := self.entry) is not None:
            self.library.pause(entry.key)
            self.look_again()

    def action_go_on(self) -> None:
        if (entry := self.entry) is not None:
            self.library.resume(entry.key)
            self.look_again()
            self.download_began()

    def action_cancel(self) -> None:
        entry = self.entry
        getting = self.downloads.get(entry.key) if entry else None
        if entry is None or getting is None:
            return
        words = f"The {size_words(getting.unfinished)} of it that are not whole would be deleted."
        if not getting.unfinished:
            words = "Nothing of it that is not whole is here."
        pauses = f"; {key_of('models.pause')} pauses" if getting.running else ""
        words += f" {key_of('question.no')} leaves all as it is{pauses}."
        self.ask(f"Give up {entry.title}?", words, lambda: self._give_up(entry.key))

    def _give_up(self, key: str) -> None:
        self.query_one(NoticeLine).clear()  # how it failed before, and what that says was kept, is past
        self.library.cancel(key)
        self.look_again()

    # --------------------------------------------------------------------------------------------- deleting

    def action_delete(self) -> None:
        if (entry := self.entry) is not None:
            self.begin("removal", self._plan_removal, entry)

    async def _plan_removal(self, entry: Entry) -> None:
        removal = await aside(self.library.removal, entry.key)
        if any(same(file, used) for file in removal.files for used in (self.target, self.draft)):
            self.say(f"{entry.title} is in use now. Use another model first, then delete it.", "warning")
            return
        text = "\n".join([*removal.files, *removal.kept])
        if removal.refusal:
            self.ask("This cannot be deleted:", text, None, refusal=removal.refusal)
        else:
            title = f"Delete {entry.title}? This frees {size_words(removal.freed)}."
            self.ask(title, text, lambda: self.begin("remove", self._remove, removal))

    async def _remove(self, removal: Removal) -> None:
        self.say(removal.done(await aside(self.library.remove, removal)))
        self.action_refresh()

    # ---------------------------------------------------------------------------------------------- questions

    def ask(self, title: str, text: str, then: Callable[[], None] | None, *, refusal: str = "") -> None:
        self.query_one(Facts).display = False
        self.query_one(Question).ask(title, text, then, refusal=refusal)
        self.offer_keys()

    @on(Question.Answered)
    def _answered(self, event: Question.Answered) -> None:
        self.workers.cancel_group(self, "plan")  # an answer from the hub that comes later is not wanted any more
        self.query_one(Facts).display = True
        self.query_one(ModelTable).focus()
        if event.then is not None:
            event.then()
        self.offer_keys()

    def begin(self, group: str, work: Callable[..., Awaitable[None]], *what: object) -> None:
        """Do ``work`` beside the screen; the last one of its group counts."""
        beside(self, group, self._safely, work, *what)

    async def _safely(self, work: Callable[..., Awaitable[None]], *what: object) -> None:
        try:
            await work(*what)
        except ShelfError as error:
            self.say(str(error), "error")
        except Exception as error:
            log.exception("the library failed")
            self.say(f"Something went wrong inside Slipstream ({type(error).__name__}); nothing was lost.", "error")
