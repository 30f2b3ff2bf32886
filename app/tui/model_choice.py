"""What was chosen on the Models screen, and how the list relates to the pair that answers now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from app.library.records import Entry, Getting, Listing, State


@dataclass(frozen=True, slots=True)
class Choice:
    """What the chat shall go on with: paths of a target and of its draft (empty: prompt lookup)."""

    target: str
    draft: str
    words: str
    context: int | None = None
    """Tokens of context that the catalogue starts it with."""
    drafting: bool = False
    """A draft was chosen for the target that answers already."""


def choice_of(entry: Entry) -> Choice:
    """The chat goes on with this entry."""
    words = f"{entry.title} answers from now on; the chat stays."
    if entry.state is State.PARTLY:
        words += " Its draft is not here, so it drafts from the text so far."
    return Choice(entry.target, entry.draft, words, entry.context)


def draft_choice(target: str, entry: Entry, verdict: str) -> Choice:
    """The entry proposes for ``target``; ``verdict`` says why it can."""
    return Choice(target, entry.target, f"{entry.title} proposes from now on: {verdict}.", drafting=True)


def draft_refusal(entry: Entry, verdict: str) -> str:
    """What is said when it cannot."""
    return f"{entry.title} cannot propose for the model that answers now: {verdict}."


def matches(entry: Entry, wanted: str) -> bool:
    """Whether every word that was typed is in the entry's name, place or state, or in the name of one of its files;
    ``_`` and ``-`` count as one, since a title and a file's name differ in them."""
    files = f"{os.path.basename(entry.target)} {os.path.basename(entry.draft)}"
    text = f"{entry.key} {entry.title} {entry.place} {entry.state} {files}".casefold().replace("_", "-")
    return all(word in text for word in wanted.casefold().replace("_", "-").split())


def same(one: str, other: str) -> bool:
    """Whether two paths are one file, links followed."""
    return one == other or (bool(one and other) and os.path.realpath(one) == os.path.realpath(other))


def came_as(getting: Getting, entry: Entry) -> bool:
    """Whether the entry is what a download has brought: by its name, or a model that is one of its files."""
    fetched = {file.name for file in getting.files}
    return entry.key == getting.key or os.path.basename(entry.target) in fetched


def uses(listing: Listing, target: str, draft: str) -> Mapping[str, str]:
    """Key -> how it is used now. A pair that is used as a whole goes before its files."""
    answering = [entry for entry in listing.entries if entry.usable and same(entry.target, target)]
    whole = [entry for entry in answering if same(entry.draft, draft)]
    used = {entry.key: "in use" for entry in (whole or answering)[:1]}
    if not whole and draft:
        proposing = (entry for entry in listing.entries if not entry.draft and same(entry.target, draft))
        used |= {entry.key: "in use as draft" for entry in proposing if entry.key not in used}
    return used
