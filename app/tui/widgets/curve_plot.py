"""Tokens over time, a curve for each way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.content import Content
from textual.widgets import Static

from app.compare.plot import Curve, plot

STYLES: Final = ("$curve-1", "$curve-2", "$curve-3", "$curve-4")
LEAST_WIDTH: Final = 24


class CurvePlot(Static):
    """As wide as there is room beside the table; nothing where that is too little."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._curves: Sequence[Curve] = ()

    def show(self, curves: Sequence[Curve]) -> None:
        self._curves = curves
        self._draw()

    def on_resize(self, _event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size.width - 6, 6
        if width < LEAST_WIDTH or not any(self._curves):
            self.update("")
            return
        found = plot(self._curves, width, height)
        lines = [Content.styled(" " * 6 + "tokens over time", "$faint")]
        for number, row in enumerate(found.rows):
            edge = f"{found.most:>4} │" if number == 0 else "     │"
            cells = [
                Content.styled(cell, STYLES[owner % len(STYLES)] if owner >= 0 else "$faint") for cell, owner in row
            ]
            lines.append(Content("").join([Content.styled(edge, "$faint"), *cells]))
        time = f"{found.seconds:.1f} s"
        lines.append(Content.styled(f"   0 └{'─' * max(0, width - len(time) - 1)} {time}", "$faint"))
        self.update(Content("\n").join(lines))
