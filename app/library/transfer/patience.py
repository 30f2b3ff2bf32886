"""How long a transfer waits for what, and how often it tries."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Seconds, and counts of tries."""

    connect: float = 10.0
    """For a connection to be made."""
    stall: float = 20.0
    """Without a byte, until we connect anew."""
    tries: int = 10
    """In a row that bring less than :attr:`worth`, until we give up."""
    worth: int = 16 * 1024
    """Bytes: a server that sends one of them for each connection would be asked for ever."""
    first_tries: int = 3
    """The same for a host that has never answered in this run: most likely there is no network, and people wait."""
    pause: float = 0.5
    """After the first failure; doubled after each one that follows."""
    longest_pause: float = 30.0
    longest_order: float = 600.0
    """What a server may tell us to wait (Retry-After); when it wants more, we say so instead."""
    tick: float = 0.1
    """How often a waiting transfer looks at its control, its progress and its lock."""
    jitter: Callable[[], float] = random.random
    """0 to 1; many clients that were cut at once shall not come back at once."""

    def after(self, failures: int) -> float:
        """How long to wait after so many failures in a row."""
        full = min(self.longest_pause, self.pause * 2.0 ** min(failures - 1, 30))
        return full * (0.75 + 0.25 * self.jitter())
