"""How fast an entry really was here, mode by mode, in lines for the details below the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.history.groups import Group
from app.history.report import chart, drop_words, figures
from app.library.records import Fact


def speed_facts(groups: Sequence[Group]) -> Iterator[Fact]:
    """A chart and a median for each mode; a sentence below where the last answer was slower than its like."""
    width = max((len(group.label) for group in groups), default=0)
    charts = max((len(chart(group)) for group in groups), default=0)
    label = "speed here"
    for group in groups:
        yield Fact(label, f"{group.label:<{width}}  {chart(group):>{charts}}  {figures(group)}")
        if words := drop_words(group):
            yield Fact("", words, "warn")
        label = ""
