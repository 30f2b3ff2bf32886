"""When the next frame of a growing answer may be drawn: drawing must not take the core that the model computes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

FRAME_SECONDS: Final = 1 / 12
"""Between two frames, where drawing is cheap enough."""
SLOWEST_SECONDS: Final = 0.3
"""Between two frames at most, whatever they cost: text that comes in lumps cannot be read along."""
SHARE: Final = 0.2
"""Of a core, which the interface may take before frames become rarer; keys that are typed count, too."""
TICK_SECONDS: Final = FRAME_SECONDS / 2
"""How often to ask."""


class FrameBudget:
    """Ask :meth:`allows` every :data:`TICK_SECONDS`, in the thread that draws."""

    def __init__(
        self, *, cpu: Callable[[], float] = time.thread_time, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``cpu``: seconds of processor time of the calling thread."""
        self._cpu, self._clock = cpu, clock
        self._drawn_at = self._spent = float("-inf")

    def allows(self) -> bool:
        """Whether a frame is due; the caller draws it then."""
        now, spent = self._clock(), self._cpu()
        since = now - self._drawn_at
        early = since < FRAME_SECONDS - TICK_SECONDS / 2  # a timer is never quite on time
        dear = since < SLOWEST_SECONDS and spent - self._spent > SHARE * since
        if early or dear:
            return False
        self._drawn_at, self._spent = now, spent
        return True
