"""Stopping this program as a shell's job, and noticing when the shell lets it go on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

STOP_PATIENCE: Final = 0.2
"""Seconds in which a signal to ourselves has stopped us, if anything ever does."""


class JobControl:
    """One for each run; made in the main thread. ``stopped`` and ``continued`` are called inside a signal handler."""

    def __init__(self, terminal: int, *, stopped: Callable[[], None], continued: Callable[[], None]) -> None:
        self._terminal = terminal
        self._on_stop, self._on_continue = stopped, continued
        self._continued = False
        self.wanted = signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN
        """Whether we may be stopped: a shell without job control has its programs ignore that."""

    def listen(self) -> None:
        """Take SIGTSTP and SIGCONT over; a signal that was ignored stays ignored."""
        signal.signal(signal.SIGTSTP, self._stop_asked if self.wanted else signal.SIG_IGN)
        signal.signal(signal.SIGCONT, self._go_on)

    def _stop_asked(self, _number: int, _frame: FrameType | None) -> None:
        self._on_stop()

    def _go_on(self, _number: int, _frame: FrameType | None) -> None:
        self._continued = True
        self._on_continue()

    def stop(self) -> bool:
        """Stop, with everything that was started along with us, and return when somebody lets us go on.

        False at once where nobody could: the kernel stops no process group that no shell looks after.
        """
        if not self.wanted:
            return False
        self._continued = False
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.killpg(0, signal.SIGTSTP)
            end = time.monotonic() + STOP_PATIENCE
            while not self._continued and time.monotonic() < end:
                time.sleep(0.005)  # the signal may have gone to another thread, which stops all of us a moment later
        finally:
            signal.signal(signal.SIGTSTP, before)
        return self._continued

    @property
    def in_foreground(self) -> bool:
        """Whether the terminal is ours now; after ``bg`` it is not."""
        with suppress(OSError):
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        return True  # no terminal any more: that is noticed where it is read
