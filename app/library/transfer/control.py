"""Pause, resume and cancel, from any thread."""

from __future__ import annotations

import threading


class Control:
    """What a person wants of a transfer. ``Control(above)`` also obeys the one above it."""

    def __init__(self, above: Control | None = None) -> None:
        self._above = above
        self._pressed: threading.Condition = above._pressed if above is not None else threading.Condition()
        self._paused = False
        self._cancelled = False

    def pause(self) -> None:
        """Close the connection and keep what is there, until :meth:`resume`."""
        self._set(paused=True)

    def resume(self) -> None:
        self._set(paused=False)

    def cancel(self) -> None:
        """End it within a second. What was received stays, so that starting it again continues."""
        self._set(cancelled=True)

    @property
    def paused(self) -> bool:
        return self._paused or (self._above is not None and self._above.paused)

    @property
    def cancelled(self) -> bool:
        return self._cancelled or (self._above is not None and self._above.cancelled)

    def wait(self, seconds: float) -> None:
        """Return after ``seconds``, or earlier when something was pressed."""
        with self._pressed:
            self._pressed.wait(seconds)

    def _set(self, *, paused: bool | None = None, cancelled: bool = False) -> None:
        with self._pressed:
            if paused is not None:
                self._paused = paused
            self._cancelled = self._cancelled or cancelled
            self._pressed.notify_all()
