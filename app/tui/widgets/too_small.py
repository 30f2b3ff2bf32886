"""The only thing shown in a terminal that is too small; a larger one heals it."""

from __future__ import annotations

from typing import Final

from textual.geometry import Size
from textual.widgets import Static

from app.tui.keymap import key_of

MIN_WIDTH: Final = 48
MIN_HEIGHT: Final = 12


def is_too_small(size: Size) -> bool:
    return size.width < MIN_WIDTH or size.height < MIN_HEIGHT


class TooSmall(Static):
    """Covers the screen; everything behind it goes on."""

    def on_mount(self) -> None:
        self.display = False

    def fit(self, size: Size) -> None:
        self.display = is_too_small(size)
        if self.display:
            self.update(
                f"This terminal has {size.width} x {size.height} cells; Slipstream needs {MIN_WIDTH} x {MIN_HEIGHT}. "
                "Make it larger to go on. Nothing is lost, an answer goes on behind this. "
                f"{key_of('app.quit')} quits."
            )
