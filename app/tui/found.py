"""The message that a search found: marked for a moment, without any motion."""

from __future__ import annotations

from typing import Final

from textual.widget import Widget

FOUND: Final = "-found"
MARK_SECONDS: Final = 3.0


def mark(view: Widget) -> None:
    """Mark ``view`` for :data:`MARK_SECONDS`."""
    view.add_class(FOUND)
    view.set_timer(MARK_SECONDS, lambda: view.remove_class(FOUND))
