"""The Models screen: what can answer here, what can be fetched, and what becomes of the files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from app.library.records import Entry, Fact, Getting, Library, Listing, Phase, ShelfError, by_place
from app.library.words import of_words
from app.tui.background import aside
from app.tui.keymap import key_of
from app.tui.keys import MODELS
from app.tui.model_choice import came_as, matches, same, uses
from app.tui.screens.model_notes import NoteActions, news_of, tried_again, trouble_of
from app.tui.widgets.facts import Facts
from app.tui.widgets.filter_box import FilterBox, FilterRow
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.model_row import columns, heading
from app.tui.widgets.model_table import ModelTable
from app.tui.widgets.models_header import ModelsHeader
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.question import Question
from app.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from engine.protocol import LoadSettings

TICK_SECONDS: Final = 0.25
SETTLE_SECONDS: Final = 0.06
"""How long the highlight rests on a row before its details are looked up."""
LOW: Final = 30
"""Rows below which the details take less room."""
LEAST: Final = 16
"""Rows below which they take still less."""
SCREEN_STYLES: Final = "filter_box facts model_table models_header question"


class ModelsScreen(NoteActions):
    """One list over all models, the details of one of them, and at most one question."""

    CSS_PATH: ClassVar = ["models.tcss", *(f"../widgets/{name}.tcss" for name in SCREEN_STYLES.split())]
    BINDINGS: ClassVar[list[BindingType]] = [*MODELS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-least"), (LEAST, "-low"), (LOW, "-high")]  # noqa: RUF012

    def __init__(
        self,
        library: Library,
        load: LoadSettings | None,
        backend: str = "",
        *,
        began: Callable[[], None],
        get: str = "",
        search: str = "",
        score: Callable[[Entry], str] | None = None,
    ) -> None:
        """``load``: the pair that answers now; ``began``: called when a download has begun or goes on; ``get``: the
        entry to begin with, whose plan is asked for at once; ``search``: what the list is narrowed down to; ``score``:
        opens the scorecard of an entry, or returns why it cannot be opened now."""
        super().__init__()
        self.library = library
        self.target = load.target.path if load else ""
        self.draft = load.draft.path if load and load.draft else ""
        self._backend = backend
        self._began = began
        self._get, self._search = get, search
        self.score = score
        self._listing = Listing(())
        self.downloads: dict[str, Getting] = {}
        self._offered: tuple[bool | None, ...] = ()
        self._news: list[Getting] = []
        """Downloads that have ended; said when the list shows it."""
        self._described = ""
        """How far the download of the highlighted entry was when its details were looked up."""

    def compose(self) -> ComposeResult:
        yield ModelsHeader()
        yield Static(id="columns", markup=False)
        yield ModelTable()
        yield FilterRow(FilterBox("a part of a name, or OWNER/REPO of the hub"))
        yield NoticeLine()
        yield Facts()
        yield Question()
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_mount(self) -> None:
        self.query_one(ModelsHeader).backend = self._backend
        self.query_one(ModelTable).focus()
        if self._search:
            self.query_one(FilterBox).value = self._search
            self.query_one(FilterRow).display = True
        self.set_interval(TICK_SECONDS, self.look_again)
        self.action_refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self.query_one("#columns", Static).update(heading(columns(event.size.width - 3)))

    # ------------------------------------------------------------------------------------------------ the list

    def action_refresh(self) -> None:
        self.begin("listing", self._read)

    async def _read(self) -> None:
        """Read the list anew; news is said when it shows what that speaks of."""
        listing = await aside(self.library.listing, (self.target, self.draft))
        first = not self._listing.entries
        self._listing = listing
        self.query_one(ModelsHeader).listing = listing
        self.left_out = listing.complaints
        if first:
            self.tell_left_out()
        news, self._news = self._news, []
        shown = self.entry.key if self.entry is not None else ""
        self._fill()
        for getting in news:
            if getting.key == shown and (came := next((e for e in listing.entries if came_as(getting, e)), None)):
                self.query_one(ModelTable).go_to(came.key)  # it may have another name now
        self.look_again()
        for getting in news:
            self.query_one(NoticeLine).also(*news_of(getting, self.entry), about=getting.key)
        if first and self._get:
            self._begin_with(self._get)

    def _begin_with(self, key: str) -> None:
        """Somebody asked for this entry before the screen was open."""
        self.query_one(ModelTable).go_to(key)
        if self.check_action("get", ()):
            self.action_get()

    def _fill(self) -> None:
        wanted = self.query_one(FilterBox).value.strip()
        folded = self._listing.folded if wanted else ()  # asked for by name, they are models like all others
        found = by_place(entry for entry in (*self._listing.entries, *folded) if matches(entry, wanted))
        nothing = (
            f"Nothing here is called {wanted}. {key_of('filter.close')} shows everything again."
            if wanted
            else "There is no model yet."
        )
        self.query_one(FilterBox).ask_for(not found and "/" in wanted)
        if "/" in wanted:
            asks, ends = key_of("filter.ask"), key_of("filter.close")
            nothing = f"Nothing here is called {wanted}. {asks} asks the hub for it, {ends} shows everything again."
        self.query_one(ModelTable).show(found, uses(self._listing, self.target, self.draft), nothing)
        if not found:
            self.query_one(Facts).show(())
        self.offer_keys()

    def look_again(self) -> None:
        """Four times a second: how far the downloads are."""
        before, self.downloads = self.downloads, {getting.key: getting for getting in self.library.downloads()}
        if self._so_far() != self._described and not any(w.group == "details" and w.is_running for w in self.workers):
            self.begin("details", self.look_up)
        if before == self.downloads:
            return
        self.query_one(ModelTable).show_downloads(
            {
                key: getting
                for key, getting in self.downloads.items()
                if getting.phase not in (Phase.DONE, Phase.CANCELLED)
            }
        )
        for key in tried_again(before, self.downloads):
            self.query_one(NoticeLine).take_back(key)
            self._news = [getting for getting in self._news if getting.key != key]
        for key, getting in self.downloads.items():
            if getting.note and (key not in before or before[key].note != getting.note):
                self.query_one(NoticeLine).also(getting.note, "warning", about=key)
        ended = [
            getting
            for key, getting in self.downloads.items()
            if key in before and before[key].phase != getting.phase and getting.ended
        ]
        self._news += ended
        if ended or {*before} - {*self.downloads}:
            self.action_refresh()
        self.offer_keys()

    def download_began(self) -> None:
        self._began()

    @on(ModelTable.OptionHighlighted)
    def _highlighted(self) -> None:
        self.reading_left_out = False
        self.offer_keys()
        self.begin("details", self.look_up)

    def _so_far(self) -> str:
        """How far the download of the highlighted entry is, as its details say it; empty without one."""
        if self.reading_left_out:
            return self._described  # other words stand there, and stay
        getting = self.downloads.get(self.entry.key) if self.entry is not None else None
        return f"{getting.key} {of_words(getting.done, getting.total)} {trouble_of(getting)}" if getting else ""

    async def look_up(self) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        entry, self._described = self.entry, self._so_far()
        if entry is None:
            return
        try:
            facts = await aside(self.library.details, entry.key, self.target)
        except ShelfError as error:
            facts = (Fact("", str(error), "warn"),)
        if self.entry is not None and self.entry.key == entry.key:
            trouble = trouble_of(self.downloads.get(entry.key))
            facts = [Fact("download", trouble, "warn"), *facts] if trouble else facts
            self.query_one(Facts).show(facts, entry.key)

    # ------------------------------------------------------------------------------------------------- searching

    def action_filter(self) -> None:
        self.query_one(FilterRow).open()
        self.offer_keys()

    @on(FilterBox.Changed)
    def _typed(self) -> None:
        if self._listing.entries:
            self._fill()

    @on(FilterBox.Left)
    def _filtered(self, event: FilterBox.Left) -> None:
        wanted = self.query_one(FilterBox).value.strip()
        self.query_one(FilterRow).display = bool(wanted)
        self.query_one(ModelTable).focus()
        if event.kept and self.entry is None and "/" in wanted:
            self.begin("plan", self.plan, wanted, wanted)
        self.offer_keys()

    # -------------------------------------------------------------------------------------------------- the keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        if action in ("close", "refresh", "details"):
            return True
        if not self.is_mounted or self.query_one(Question).display or self.query_one(FilterBox).has_focus:
            return False
        if action in ("filter", "left_out"):
            return action == "filter" or bool(self.left_out)
        entry = self.entry
        if entry is None:
            return False
        getting = self.downloads.get(entry.key)
        moving = getting is not None and getting.running
        halted = getting is not None and getting.phase in (Phase.PAUSED, Phase.FAILED)
        match action:
            case "use":
                return entry.usable and not moving and not halted
            case "get":
                return entry.fetchable and not moving and not halted
            case "go_on":
                return halted
            case "pause":
                return moving
            case "cancel":
                return moving or halted
            case "score":
                return self.score is not None and entry.usable and not moving and not halted
            case "draft":
                return bool(self.target) and entry.usable and not same(entry.target, self.target)
            case "delete":
                return entry.own and not moving
        return True

    def offer_keys(self) -> None:
        offered = tuple(
            self.check_action(name, ()) for name in "use get go_on pause cancel draft score delete filter".split()
        )
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    @on(ModelTable.Acted)
    def _acted(self) -> None:
        for action in ("use", "go_on", "get"):
            if self.check_action(action, ()):
                getattr(self, f"action_{action}")()
                return

    def action_close(self) -> None:
        self.dismiss(None)

    def action_details(self, where: str) -> None:
        """Scroll what is said about the entry, where it is longer than its place."""
        facts = self.query_one(Facts)
        (facts.scroll_up if where == "up" else facts.scroll_down)(animate=False)
