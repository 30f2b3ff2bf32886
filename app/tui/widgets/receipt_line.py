"""The product's signature: the figures under an answer, live in the same place, faint until the eye wants them."""

from __future__ import annotations

import re
from typing import Final

from textual.content import Content

from app import receipt
from app.tui.widgets.line import Line
from engine.stats import Stats

_FIGURE: Final = re.compile(r"\d[\d.]*(?: %|x)?|\(\d+/\d+\)")
_SLOWER = re.compile(r"[\d.]+x,? slower( here)?")


class ReceiptLine(Line):
    """Shows :func:`app.receipt.wide` or, in narrow terminals, :func:`app.receipt.narrow`."""

    def __init__(self) -> None:
        super().__init__()
        self._stats: Stats | None = None
        self._drafter = ""

    def show(self, stats: Stats, drafter: str) -> None:
        """Replace the figures. The row keeps its place and its columns."""
        if stats != self._stats or drafter != self._drafter:
            self._stats, self._drafter = stats, drafter
            self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        if self._stats is None:
            return Content(), Content()
        text = receipt.wide(self._stats, self._drafter, steady=True)
        if width < receipt.STEADY_WIDTH or len(text) > width:
            text = receipt.narrow(self._stats, self._drafter)
        return weighted(text), Content()


def weighted(text: str) -> Content:
    """Figures one weight above the words around them; a factor below 1 is warm."""
    content = Content.styled(text, "$faint")
    for match in _FIGURE.finditer(text):
        content = content.stylize("$muted", match.start(), match.end())
    if slower := _SLOWER.search(text):
        content = content.stylize("$warning", slower.start(), slower.end())
    return content
