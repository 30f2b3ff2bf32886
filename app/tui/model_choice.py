"""What was chosen on the Models screen, and how the list relates to the pair that answers now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from app.library.records import Entry, Listing


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


def matches(entry: Entry, wanted: str) -> bool:
    """Whether every word that was typed is in the entry's name, place or state."""
    text = f"{entry.key} {entry.title} {entry.place} {entry.state}".casefold()
    return all(word in text for word in wanted.casefold().split())


def same(one: str, other: str) -> bool:
    """Whether two paths are one file, links followed."""
    return one == other or (bool(one and other) and os.path.realpath(one) == os.path.realpath(other))


def uses(listing: Listing, target: str, draft: str) -> Mapping[str, str]:
    """Key -> how it is used now. A pair that is used as a whole goes before its files."""
    answering = [entry for entry in listing.entries if entry.usable and same(entry.target, target)]
    whole = [entry for entry in answering if same(entry.draft, draft)]
    used = {entry.key: "in use" for entry in (whole or answering)[:1]}
    if not whole and draft:
        proposing = (entry for entry in listing.entries if not entry.draft and same(entry.target, draft))
        used |= {entry.key: "in use as draft" for entry in proposing if entry.key not in used}
    return used
