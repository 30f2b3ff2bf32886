"""The other models of this disk that may draft for the one that answers."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.library.records import Entry, ShelfError
from app.tui.background import aside
from app.tui.model_choice import same

if TYPE_CHECKING:
    from app.tui.app import SlipstreamApp
    from engine.protocol import LoadSettings

log = logging.getLogger(__name__)

MOST: Final = 5
"""So many are offered, smallest first."""


@dataclass(frozen=True, slots=True)
class LocalDraft:
    """``path``: of the file; ``title``: what people call it."""

    title: str
    path: str


async def local_drafts(app: SlipstreamApp, load: LoadSettings) -> list[LocalDraft]:
    """Those that fit the target of ``load`` and are not its draft already. A disk that cannot be read has none."""
    library = app.open_library()
    if library is None:
        return []
    found: list[LocalDraft] = []
    try:
        listing = app.listing
        if listing is None:
            listing = await aside(library.listing)
        for entry in sorted(filter(_single, (*listing.entries, *listing.folded)), key=lambda entry: entry.size or 0):
            used = (load.target.path, load.draft.path if load.draft else "")
            if any(same(entry.target, path) for path in used):
                continue
            fits, _ = await aside(library.judge, load.target.path, entry.target)
            if fits:
                found.append(LocalDraft(entry.title, entry.target))
            if len(found) == MOST:
                break
    except ShelfError as error:
        log.warning("other drafts were not looked for: %s", error)
    return found


def _single(entry: Entry) -> bool:
    """Whether it is one model that can be used, not a pair."""
    return entry.usable and not entry.draft
