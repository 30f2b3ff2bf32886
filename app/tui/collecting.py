"""When Python looks through all objects for garbage: as little as possible while an answer is drawn.

A whole collection goes over every widget, style and cached line there is. The interface stands still for 50 to 100 ms
meanwhile, and Textual makes objects so fast that one came every 1.5 seconds of an answer. So what is there before an
answer is left out of them until it has been quiet for a while; they go over what is new then, which is little.

What is new is looked through in small portions: measured beside an answer of 150 tokens/s, Python's own thresholds took
13 % of the interface's time and stopped it for up to 111 ms, these take 6 % and up to 10 ms.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Final

from textual.screen import Screen
from textual.timer import Timer

THRESHOLDS: Final = 1_500, 4, 500
"""See ``gc.set_threshold``: while the chat is open, a look through everything is left to the quiet moments."""

QUIET_SECONDS: Final = 3.0
"""Without an answer and without a key, before everything is looked through again."""


class Collecting:
    """Looks after the garbage of the chat's screen. ``typed_at``: when a key was last seen, by ``time.monotonic``."""

    def __init__(self, screen: Screen[None], typed_at: Callable[[], float]) -> None:
        self._screen, self._typed_at = screen, typed_at
        self._ended_at = 0.0
        self._waiting: Timer | None = None

    def begin(self) -> None:
        """The first screen is drawn; :func:`app.tui.run.run_chat` has Python look for no garbage before that."""
        if not gc.isenabled():
            gc.set_threshold(*THRESHOLDS)
            gc.enable()

    def answering(self, on: bool) -> None:
        """An answer begins, or has ended."""
        self._stop_waiting()
        if on:
            gc.freeze()
        else:
            self._ended_at = time.monotonic()
            self._waiting = self._screen.set_interval(QUIET_SECONDS, self.tidy_in_time)

    def tidy_in_time(self) -> None:
        """Look through everything, where it is quiet."""
        if time.monotonic() - max(self._ended_at, self._typed_at()) >= QUIET_SECONDS * 0.9:  # timers are never on time
            self._stop_waiting()
            gc.unfreeze()
            gc.collect()

    def close(self) -> None:
        """The screen is gone."""
        self._stop_waiting()
        gc.unfreeze()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
