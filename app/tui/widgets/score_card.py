"""The scorecard: what was measured, what each figure means, and what follows from all of them."""

from __future__ import annotations

import textwrap
from typing import Final

from textual.content import Content

from app.clean import clean_line
from app.score.card import Card, Row
from app.score.told import best_words
from app.tui.widgets.sheet import Sheet

NAME: Final = 15
VALUE: Final = 9
BESIDE: Final = 28
"""Columns from which on words stand beside their figure."""
MARKS: Final = {True: ("+", "$accent"), False: ("–", "$warning"), None: (" ", "$faint")}


class ScoreCard(Sheet):
    """Empty until :meth:`show`."""

    _card: Card | None = None

    def show(self, card: Card) -> None:
        self._card, self._drawn = card, (0, [])
        self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        card = self._card
        if card is None:
            return []
        lines = [line for row in card.rows for line in _row(row, width)]
        lines += [Content(), *(Content.styled(line, "bold $foreground") for line in _wrapped(best_words(card), width))]
        return lines + [Content.styled(line, "$muted") for line in _wrapped(card.limit, width)]


def _row(row: Row, width: int) -> list[Content]:
    """The words fold under themselves."""
    mark, style = MARKS[row.good]
    value = clean_line(row.value, 20)
    first = Content.assemble(
        (f"{mark} ", style),
        (f"{row.name:<{NAME}}", "$muted"),
        (f"{value:>{VALUE}}  ", "$warning" if row.good is False else "$foreground"),
    )
    indent = first.cell_length
    if width - indent < BESIDE:  # the words stand below
        indent = 4
        return [first, *(Content.styled(" " * indent + line, "$muted") for line in _wrapped(row.words, width - indent))]
    words = _wrapped(row.words, width - indent) or [""]
    first = Content.assemble(first, (words[0], "$muted"))
    return [first, *(Content.styled(" " * indent + line, "$muted") for line in words[1:])]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(clean_line(text, 600), max(20, width))
