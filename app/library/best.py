"""Which pair of the catalogue suits this machine best: by memory, cores, GPUs and disk alone, before any is here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.library.inventory import PairHere
from app.library.room import Room
from engine.files.fit import SURE

CORE_READS: Final = 6e9
"""Bytes of weights that one core goes through in a second, roughly."""
MEMORY_READS: Final = 32e9
"""Bytes a second that main memory gives to all cores together, roughly."""
PLEASANT: Final = 4.5
"""Tokens a second without a draft that one likes to wait for: about as fast as people read."""


def best_pair(pairs: Iterable[PairHere], room: Room) -> PairHere | None:
    """The pair with the largest target of those that fit memory and disk and are not too slow to talk with.

    Decoding reads all weights for every token, so on a processor their size is the speed; a GPU that holds a pair is
    fast enough for it. The starter is left out, and so are gated pairs, since nobody should have to log in for the
    first model, and those whose target's size is not known before the hub is asked. None: no pair fits.
    """
    fitting = [here for here in list(pairs)[1:] if _suits(here, room)]
    return max(fitting, key=lambda here: (here.target.size or 0, -here.pair.memory), default=None)


def missing_bytes(here: PairHere) -> int:
    """Bytes of the pair that are not on this disk, as far as sizes are known."""
    return sum(max(0, (source.size or 0) - source.here) for source in here.sources)


def _suits(here: PairHere, room: Room) -> bool:
    needed = round(here.pair.memory * 1e9)
    if here.pair.gated or here.target.size is None or (room.disk is not None and missing_bytes(here) > room.disk):
        return False
    if room.gpus and needed <= room.on_gpus:
        return True
    readable = min(room.cores * CORE_READS, MEMORY_READS) / PLEASANT
    return room.main is not None and needed * SURE <= room.main and here.target.size <= readable
