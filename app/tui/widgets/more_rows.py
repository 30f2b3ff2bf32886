"""The rows at either end of the transcript that stand for the turns that are not mounted."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Static


class MoreRow(Static):
    """Hidden while there are none."""

    sign = ""

    class Wanted(Message):
        """The reader wants to see them."""

    def on_mount(self) -> None:
        self.display = False

    def on_click(self) -> None:
        self.post_message(self.Wanted())

    def count(self, turns: int) -> None:
        self.update(self.sign.format(turns))
        self.display = turns > 0


class Earlier(MoreRow):
    """Those above."""

    sign = "↑ {} earlier messages"

    class Wanted(MoreRow.Wanted):
        pass


class Later(MoreRow):
    """Those below, where the transcript was opened in its middle."""

    sign = "↓ {} later messages"

    class Wanted(MoreRow.Wanted):
        pass
