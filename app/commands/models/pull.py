"""``slipstream models pull``: the plan first, then the question, then the bytes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from app.clean import clean_line
from app.commands.errors import CANCELLED, FAILED, CommandError, say
from app.commands.models.common import confirmed, open_shelf, show
from app.commands.models.progress import ProgressLines
from app.commands.stdout import Progress
from app.library.records import Getting, Offer, Phase, ShelfError
from app.library.shelf import Shelf
from app.library.words import ended_words, of_words, percent
from app.percent import share, written
from engine.files.sizes import size_words

LOOK_SECONDS: Final = 0.25


def run_pull(wanted: str, *, yes: bool, dry_run: bool, replace: bool = False) -> int:
    """``replace``: files of the user's own that lie in the way may be replaced. Exit codes: 0 it is here, 1 it is not,
    130 interrupted (what has arrived is kept)."""
    shelf = open_shelf()
    try:
        offer = shelf.plan(wanted)
        if replace and offer.replaceable:
            offer = _replacing(shelf, offer)
        show(offer.text)
        if offer.refusal and not offer.missing:  # nothing is missing
            why, code = _unusable(shelf, offer)
            say(f"{offer.refusal} {why}".rstrip())
            return code
        if offer.refusal:
            raise CommandError(offer.refusal + _other_way(offer))
        if dry_run:
            return 0
        if not yes and not confirmed(f"\n{_question(offer)}", "Nothing was fetched"):
            say("Nothing was fetched.")
            return FAILED
        return _fetch(shelf, offer)
    finally:
        shelf.close()


def _fetch(shelf: Shelf, offer: Offer) -> int:
    lines = ProgressLines()
    try:
        shelf.start(offer)
        while (getting := _getting(shelf, offer)).running:
            lines.show(getting)
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        shelf.close()
        getting = _getting(shelf, offer)
        lines.finish(getting)
        if getting.phase is not Phase.DONE:
            so_far = f"{written(percent(getting))}, {of_words(getting.done, getting.total)} are kept"
            say(f"Paused at {so_far}. Go on with: {_command(offer, replace=bool(offer.replaced))}")
            return CANCELLED
    lines.finish(getting)
    if getting.phase is not Phase.DONE:
        raise CommandError(ended_words(getting))
    why, code = _unusable(shelf, offer)
    show(f"{ended_words(getting)}. {why or f'Use it with: slipstream --model {offer.key}'}")
    return code


def _unusable(shelf: Shelf, offer: Offer) -> tuple[str, int]:
    """A sentence about what is here and is no model to talk to, and the exit code: what is not whole is a failure, a
    projector or an embedding model is not."""
    try:
        models = shelf.models(offer.key)
    except ShelfError:  # two of one name, say: nothing is wrong with what arrived
        return "", 0
    bad = next((model for model in models if model.why_not is not None), None)
    if bad is None:
        return "", 0
    return f"It cannot be chosen as a model: {bad.why_not}.", FAILED if bad.fault is not None else 0


def _replacing(shelf: Shelf, offer: Offer) -> Offer:
    progress = Progress()

    def watch(path: Path, done: int, total: int) -> None:
        progress.show(f"reading {clean_line(path.name)} {share(done, total)}")

    try:
        return shelf.replacing(offer, watch)
    finally:
        progress.clear()


def _question(offer: Offer) -> str:
    replaced = ""
    if lost := len(offer.replaced):
        replaced = f" and replace {lost} file{'s' * (lost > 1)} of yours"
    return f"Fetch {size_words(offer.missing)}{replaced}?"


def _other_way(offer: Offer) -> str:
    """What else can be done where files of the user's lie in the way."""
    if not offer.replaceable:
        return ""
    them = "it" if len(offer.replaceable) == 1 else "them"
    return f" To see what would be lost and replace {them}: {_command(offer, replace=True)}"


def _command(offer: Offer, *, replace: bool) -> str:
    return f"slipstream models pull {offer.key}" + " --replace" * replace


def _getting(shelf: Shelf, offer: Offer) -> Getting:
    return next(getting for getting in shelf.downloads() if getting.key == offer.key)
