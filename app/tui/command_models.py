"""``/model`` and ``/draft``: the models of this disk by name, without leaving the chat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.clean import clean_line
from app.library.records import Entry, Library, Listing, ShelfError, State
from app.tui.background import aside
from app.tui.commands import RefusedError
from app.tui.model_choice import choice_of, draft_choice, draft_refusal, matches, same
from app.tui.names import full_name
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.surface import Surface

OFF = "off"


def library_is_there(screen: Surface) -> bool:
    """Whether models can be looked up."""
    return screen.slipstream.has_library


async def use_model(screen: Surface, wanted: str) -> None:
    """``/model NAME`` or a file's path; without a name the Models screen opens."""
    app = screen.slipstream
    if not wanted:
        app.action_models()
        return
    entry = await _wanted(screen, wanted)
    if entry.fits is False:
        raise RefusedError(
            f"{entry.title} is expected not to fit into this machine's memory. /models uses it all the same."
        )
    load = screen.answering.load
    if load is not None and same(entry.target, load.target.path) and same(entry.draft, _draft_path(screen)):
        raise RefusedError(f"{entry.title} answers already.")
    app.use(choice_of(entry))


async def use_draft(screen: Surface, wanted: str) -> None:
    """``/draft NAME``, a file's path or ``off``; without a name the Models screen opens."""
    app, load = screen.slipstream, screen.answering.load
    if not wanted:
        app.action_models()
        return
    if load is None:
        raise RefusedError("No model answers yet: /model chooses one, then a draft can propose for it.")
    if wanted.casefold() == OFF:
        if load.draft is None and load.draft_refused is None:
            raise RefusedError("There is no draft model that proposes.")
        screen.use(
            load.model_copy(update={"draft": None, "draft_refused": None}), "No draft model proposes from now on."
        )
        return
    entry = await _wanted(screen, wanted)
    try:
        fits, words = await aside(_library(screen).judge, load.target.path, entry.target)
    except ShelfError as error:
        raise RefusedError(str(error)) from error
    if not fits:
        raise RefusedError(draft_refusal(entry, words))
    app.use(draft_choice(load.target.path, entry, words))


def suggest_models(screen: Surface) -> Sequence[Suggestion]:
    """Those that can answer now."""
    load = screen.answering.load
    target = load.target.path if load else ""
    return [_suggestion(entry, "in use" if same(entry.target, target) else "") for entry in _usable(screen)]


def suggest_drafts(screen: Surface) -> Sequence[Suggestion]:
    """Every other model that is here; whether it fits is found out when it is chosen."""
    load = screen.answering.load
    target = load.target.path if load else ""
    off = [Suggestion(OFF, OFF, "no draft model")] if load is not None and load.draft is not None else []
    others = [entry for entry in _usable(screen) if not entry.draft and not same(entry.target, target)]
    return [*off, *(_suggestion(entry, "") for entry in others)]


def _usable(screen: Surface) -> list[Entry]:
    """As far as they are known: asked for the first time, they are looked for."""
    app = screen.slipstream
    if app.listing is None:
        app.look_for_models()
        return []
    return [entry for entry in (*app.listing.entries, *app.listing.folded) if entry.usable]


def _suggestion(entry: Entry, words: str) -> Suggestion:
    return Suggestion(clean_line(entry.key, 200), clean_line(entry.title, 60), words or clean_line(entry.place, 60))


async def _wanted(screen: Surface, wanted: str) -> Entry:
    """What a name or a path means. Raises RefusedError with what there is to do."""
    listing = await _listing(screen)
    if not _is_path(wanted) or any(wanted == entry.key for entry in (*listing.entries, *listing.folded)):
        return _the_one(listing, wanted)
    from app.library.lookup import find_model  # what --model is found with; not before it is wanted
    from app.library.resolve import ModelNotFoundError

    try:
        path = str(await aside(find_model, wanted))
    except ModelNotFoundError as error:
        raise RefusedError(str(error)) from error
    alone = Entry(path, full_name(path), State.IN_PLACE, target=path)
    listed = (*listing.entries, *listing.folded)
    return next((entry for entry in listed if not entry.draft and same(entry.target, path)), alone)


def _is_path(wanted: str) -> bool:
    """Whether a file is meant, and not what is listed."""
    return wanted.startswith(("/", ".", "~", "\\")) or (
        wanted.lower().endswith(".gguf") and Path(wanted).expanduser().exists()
    )


def _the_one(listing: Listing, wanted: str) -> Entry:
    """The entry that ``wanted`` means. Raises RefusedError with what there is to do."""
    listed = (*listing.entries, *listing.folded)
    exact = [entry for entry in listed if wanted.casefold() in (entry.key.casefold(), entry.title.casefold())]
    found = exact or [entry for entry in listing.entries if matches(entry, wanted)]
    found = found or [entry for entry in listing.folded if matches(entry, wanted)]
    usable = [entry for entry in found if entry.usable]
    shown = clean_line(wanted, 40)
    if not found:
        raise RefusedError(
            f"No model is called {shown}. /models shows those that are here and those that can be fetched."
        )
    if not usable:
        raise RefusedError(f"{found[0].title} is {found[0].state}: /models shows what can be done.")
    if len(usable) > 1 and not exact:
        names = ", ".join(clean_line(entry.title, 40) for entry in usable[:4])
        raise RefusedError(f"{shown} can be {names}{' or others' if len(usable) > 4 else ''}. Type more of its name.")
    return usable[0]


def _draft_path(screen: Surface) -> str:
    load = screen.answering.load
    return load.draft.path if load and load.draft else ""


def _library(screen: Surface) -> Library:
    library = screen.slipstream.open_library()
    if library is None:
        raise RefusedError("Models cannot be looked up here.")
    return library


async def _listing(screen: Surface) -> Listing:
    """What is on the disk now."""
    try:
        screen.slipstream.listing = listing = await aside(_library(screen).listing)
    except ShelfError as error:
        raise RefusedError(str(error)) from error
    return listing
