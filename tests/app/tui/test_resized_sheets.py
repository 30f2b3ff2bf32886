"""A terminal that is made larger while something is open over the chat shows what a large one would have shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

import pytest

from tests.app.tui.sheets import SHEETS, sheet

SMALL, LARGE = (60, 20), (150, 44)


@pytest.fixture(autouse=True)
def even_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for both screens."""
    ticks = count()
    monkeypatch.setattr("app.compare.runs.monotonic", lambda: next(ticks) / 8)
    monkeypatch.setattr("app.library.window.available_memory", lambda: 8_000_000_000)


@pytest.mark.parametrize("name", SHEETS)
async def test_larger_is_the_same_as_large_from_the_beginning(name: str) -> None:
    async with sheet(name, SMALL) as it:
        await it.pilot.resize_terminal(*LARGE)
        await it.settle()
        resized = at_one_time(it.lines)
    async with sheet(name, LARGE) as it:
        await it.settle()
        assert resized == at_one_time(it.lines)


def at_one_time(lines: Sequence[str]) -> list[str]:
    """The screens are made one behind the other: a minute may end between them, and a message has another number."""
    return [re.sub(r"\b\d{19}\b", "number", re.sub(r"\b\d\d:\d\d\b", "hh:mm", line)) for line in lines]


@pytest.mark.parametrize(
    ("name", "last", "footer"),
    [
        ("context question", "○ stop", "esc stop"),
        ("context", "○ leave it as it is", "esc stop"),
        ("speculation", "● auto", "esc back"),
    ],
)
async def test_the_smallest_terminal_shows_every_row_and_the_composer(name: str, last: str, footer: str) -> None:
    async with sheet(name, (48, 12)) as it:
        assert last in it.shown
        assert " ❯ " in it.shown
        assert footer in it.footer


async def test_every_length_and_the_keys_of_the_ways_fit_into_the_smallest_terminal() -> None:
    async with sheet("ways", (48, 12)) as it:
        assert "usual    2      4      8" in it.shown
        assert "enter compare" in it.footer
        assert "the first is the yardstick" in it.words


async def test_the_verdict_of_a_comparison_can_be_reached_in_the_smallest_terminal() -> None:
    async with sheet("compare", (48, 12)) as it:
        assert "auto" in it.shown
        assert "1.62 s" in it.shown
        await it.pilot.press(*["pagedown"] * 8)
        await it.sees("Identical: ")
