"""What would continue a repetition, against looking at every place of the text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.repeats import InText, InWindow, Repeats

TABLE = [token for row in range(60) for token in (9, row % 5, 8, row % 7 + 20, 9, 7)]
NUMBERS = [int(digit) for number in range(300) for digit in f"{number}"]
TEXTS: dict[str, list[int]] = {
    "one": [1] * 400,
    "one, and before it once another way": [1, 1, 2, *[1] * 400],
    "three": [1, 2, 3] * 150,
    "runs": [token for run in range(30) for token in [1] * run + [2]],
    "table": TABLE,
    "numbers": NUMBERS,
    "any": random.Random(5).choices(range(6), k=500),
}


def looked_up(text: Sequence[int], limit: int) -> dict[int, int]:
    """Token -> length of the longest repetition that it would continue, where there is any."""
    longest: dict[int, int] = {}
    for place in range(len(text) - 1):
        length = 0
        while length < limit and length <= place and text[place - length] == text[-1 - length]:
            length += 1
        if length:
            longest[text[place + 1]] = max(length, longest.get(text[place + 1], 0))
    return longest


def at_least(found: dict[int, int], least: int, most: int) -> dict[int, int]:
    return {token: min(length, most) for token, length in found.items() if length >= least}


@pytest.mark.parametrize(("least", "most"), [(1, 10_000), (2, 160), (2, 2), (5, 9)])
@pytest.mark.parametrize("name", TEXTS)
def test_in_the_whole_text_nothing_is_missed(name: str, least: int, most: int) -> None:
    text = TEXTS[name]
    repeats = InText(text[:100], least=least, most=most)
    for end in range(100, len(text)):
        repeats.append(text[end])
        if end % 7 == 0:
            assert dict(repeats.found(50)) == at_least(looked_up(text[: end + 1], 50), least, most)


@example(text=[0] * 11, proposals=[], window=1, limit=2)
@given(
    text=st.lists(st.integers(0, 3), max_size=40),
    proposals=st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=4),
    window=st.sampled_from([None, 1, 4, 9, 100]),
    limit=st.integers(2, 12),
)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_what_is_taken_back_was_never_there(
    text: list[int], proposals: list[list[int]], window: int | None, limit: int
) -> None:
    begun, rest = text[:10], text[10:]
    repeats: Repeats = InText(begun, least=2, most=9) if window is None else InWindow(window, begun)
    shown = list(begun)
    for proposed in [*proposals, []]:
        mark: Any = repeats.mark()
        for token in proposed:
            repeats.append(token)
        repeats.take_back(mark)
        for token in rest[:3]:
            repeats.append(token)
        shown, rest = shown + rest[:3], rest[3:]
        seen = shown if window is None else shown[-window:]
        least, most = (2, 9) if window is None else (1, 10_000)
        assert dict(repeats.found(limit)) == at_least(looked_up(seen, limit), least, most)


class Counted(list[int]):
    """A list that knows how often it was looked into."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("length", [1_000, 4_000])
@pytest.mark.parametrize("text", [[1], [1, 2, 3], [1, 1, 1, 2]])
def test_a_longer_text_costs_no_more_steps(text: list[int], length: int) -> None:
    repeats = InText([1, 1, 2, 5, *text * length], least=2, most=160)
    repeats._link = links = Counted(repeats._link)
    assert list(repeats.found(10_000))
    assert links.looks <= 160
    links.looks = 0
    for token in text * 10:
        repeats.append(token)
    assert links.looks <= 10 * 10 * len(text)
