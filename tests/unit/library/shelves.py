"""What tests do with a shelf: look at an entry, fetch, and wait for a download."""

from __future__ import annotations

import time

from app.library.records import Entry, Getting, Phase
from app.library.shelf import Shelf
from app.library.transfer.patience import Patience

SOON = 20.0
HASTY = Patience(connect=1.0, stall=0.6, tries=2, first_tries=1, pause=0.05, longest_pause=0.1, tick=0.02)


def entry(shelf: Shelf, key: str) -> Entry:
    found = shelf.listing().find(key)
    assert found is not None, [one.key for one in shelf.listing().entries]
    return found


def until(shelf: Shelf, key: str, *phases: Phase) -> Getting:
    """Wait for a download to come into one of ``phases``."""
    deadline = time.monotonic() + SOON
    while True:
        getting = next(one for one in shelf.downloads() if one.key == key)
        if getting.phase in phases:
            return getting
        assert time.monotonic() < deadline, getting
        time.sleep(0.02)


def pull(shelf: Shelf, wanted: str) -> Getting:
    offer = shelf.plan(wanted)
    shelf.start(offer)
    return until(shelf, offer.key, Phase.DONE, Phase.FAILED)
