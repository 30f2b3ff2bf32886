"""What a score has measured so far: seconds of a whole answer, by kind of work and by way."""

from __future__ import annotations

import statistics
from typing import Final

from textual.content import Content
from textual.widgets import Static

from app.clean import clean_line
from app.compare.bench import Bench

NAME: Final = 16
CELL: Final = 11


class ScoreRuns(Static):
    """Grows while it is measured."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, bench: Bench) -> None:
        head = "".join(f"{way.label:>{CELL}}" for way in bench.ways)
        lines = [
            Content.styled("seconds of a whole answer so far", "$muted"),
            Content(),
            Content.styled(" " * NAME + head, "$faint"),
        ]
        names = [task.category for task in bench.tasks]
        if len({*names}) < len(names):  # several of a kind
            names = [f"{name} {number}" for number, name in enumerate(names, start=1)]
        for name, comparison in zip(names, bench.comparisons, strict=True):
            line = Content.styled(clean_line(name, NAME - 2).ljust(NAME), "$muted")
            for way in bench.ways:
                taken = [run.stats.total_seconds for run in comparison.of(way)]
                cell = f"{statistics.median(taken):.2f}" if taken else "·"
                line = Content.assemble(line, (f"{cell:>{CELL}}", "$foreground" if taken else "$faint"))
            lines.append(line)
        self.update(Content("\n").join(lines))
