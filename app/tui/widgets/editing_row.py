"""Says that the composer holds a message that was said before."""

from __future__ import annotations

from typing import Final

from textual.widgets import Static

from app.tui.keymap import with_keys

EDITING: Final = "editing: {composer.send} sends it as a new branch, {chat.leave_edit} leaves it"


class EditingRow(Static):
    """Hidden until a message is edited; a click leaves the edit."""

    def __init__(self) -> None:
        super().__init__(with_keys(EDITING), markup=False)

    def on_mount(self) -> None:
        self.display = False

    async def on_click(self) -> None:
        await self.run_action("screen.leave_edit")
