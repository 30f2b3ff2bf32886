"""What the X-ray's colours mean, for as long as it is on."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from app.tui.keymap import key_of
from app.tui.widgets.line import Line
from app.tui.xray import STYLES

WIDE: Final = 90
SHORT: Final = 64
"""Columns below which the fewest words say it."""


class Legend(Line):
    """A row above the composer; a click ends the X-ray."""

    def on_mount(self) -> None:
        self.display = False

    def parts(self, width: int) -> tuple[Content, Content]:
        short = width < SHORT
        left = Content.assemble(
            ("x-ray " if short else "x-ray  ", "$faint"),
            (" lookup ", STYLES["l"]),
            " ",
            (" draft " if short else " draft model ", STYLES["d"]),
            (" " if short else " proposed it   ", "$muted"),
            ("corrected", STYLES["c"]),
            ("   plain: the model alone" if width >= WIDE else "", "$muted"),
        )
        return left, Content.styled(f"{key_of('chat.xray')} ends{'' if short else ' it'}", "$faint")

    async def on_click(self) -> None:
        await self.run_action("screen.xray")
