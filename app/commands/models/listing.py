"""``slipstream models list`` and ``where``: what there is, and in which folders."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import Final

from app.clean import clean_line
from app.commands.errors import say
from app.commands.models.common import open_shelf, show, table
from app.library.records import Entry, Listing
from app.library.words import CUT, size_cell, speed_words, state_words
from engine.files.sizes import size_words

NAME_CELLS: Final = 44


def run_list(as_json: bool) -> int:
    """Every pair and every model file, with its state."""
    listing = open_shelf().listing()
    for complaint in listing.complaints:
        say(complaint)
    show(_as_json(listing) if as_json else "\n".join(_lines(listing)))
    return 0


def run_where(name: str | None) -> int:
    """The folders that are looked at, or the files of one model, a line each."""
    shelf = open_shelf()
    if name is None:
        show("\n".join(table([(what, str(folder)) for what, folder in shelf.folders()])))
        return 0
    files = shelf.files(name)
    partly = shelf.unfinished(name)
    for words in partly:
        say(words)
    if not files and partly:
        return 1
    if not files:
        say(f"Nothing of {name} is on this disk. Get it with: slipstream models pull {name}")
        return 1
    show("\n".join(str(file) for file in files))
    return 0


def _lines(listing: Listing) -> list[str]:
    rows: list[tuple[str, ...]] = [("name", "model", "size", "memory", "speed here", "state")]
    rows += [_row(entry) for entry in listing.entries]
    aligned = iter(table(rows, right=(2, 3, 4)))
    lines = [next(aligned)]
    for place, entries in groupby(listing.entries, key=lambda entry: entry.place):
        if place:
            lines += ["", place]
        lines += [next(aligned) for _ in entries]
    return [*lines, "", _room(listing)]


def _row(entry: Entry) -> tuple[str, ...]:
    return (
        _name(entry.key),
        clean_line(entry.title, 60),
        size_cell(entry.size),
        size_cell(entry.memory),
        speed_words(entry),
        clean_line(state_words(entry) + (f": {entry.trouble}" if entry.trouble else ""), 160),
    )


def _name(key: str) -> str:
    """The key, and of a long path its end, which stands for it: the column never grows beyond its width."""
    name = clean_line(key, 400)
    return name if len(name) <= NAME_CELLS else f"{CUT}{name[-(NAME_CELLS - 1) :]}"


def _room(listing: Listing) -> str:
    words = [f"free disk {size_words(listing.free_disk)}"] if listing.free_disk is not None else []
    if listing.memory is not None:
        words.append(f"memory {size_words(listing.memory)}")
    if listing.free_memory is not None:
        words.append(f"{size_words(listing.free_memory)} of it free")
    return " · ".join([*words, "GPUs are not counted (models check does)"])


def _as_json(listing: Listing) -> str:
    models = [{**asdict(entry), "state": str(entry.state), "usable": entry.usable} for entry in listing.entries]
    facts = {"free_disk": listing.free_disk, "memory": listing.memory, "free_memory": listing.free_memory}
    return json.dumps({"models": models, **facts, "complaints": listing.complaints}, indent=2, ensure_ascii=False)
