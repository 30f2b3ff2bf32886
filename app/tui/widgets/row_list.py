"""A list whose rows are highlighted by a click, and acted on by a second one."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import OptionList


class RowList(OptionList, inherit_bindings=False):
    """See the module's text. What is done with a row belongs to the screen."""

    class Acted(Message):
        """The row that was highlighted already has been clicked."""

    def __init__(self) -> None:
        super().__init__(compact=True, markup=False)

    async def _on_click(self, event: events.Click) -> None:
        """A click chooses a row, the second one acts: OptionList would act at the first."""
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if not isinstance(clicked, int) or self.options[clicked].disabled:
            return
        if clicked == self.highlighted:
            self.post_message(self.Acted())
        self.highlighted = clicked

    def on_resize(self) -> None:
        """What keys act on stays in sight, also where something else takes rows from the list."""
        self.call_after_refresh(self.scroll_to_highlight)
