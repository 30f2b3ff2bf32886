"""Small drawings keep their width and never lie about the largest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bars import LEVELS, level, sparkline, split

VALUES = st.lists(st.floats(0, 1e6), max_size=64)


@given(VALUES, st.integers(0, 30))
def test_a_sparkline_has_exactly_its_cells(values: list[float], cells: int) -> None:
    drawn = sparkline(values, cells)
    assert len(drawn) == cells
    assert set(drawn) <= {*LEVELS, " "}


def test_a_sparkline_fills_from_the_left_and_then_joins_neighbours() -> None:
    assert sparkline([10, 20, 40], 6) == "▂▄█   "
    assert sparkline([10, 10, 40, 40], 2) == "▂█"
    assert sparkline([], 4) == sparkline([42], 4) == "    "
    assert sparkline([0, 0], 3) == "▁▁ "


@pytest.mark.parametrize(("value", "bar"), [(0, "▁"), (1, "▁"), (50, "▄"), (99, "█"), (100, "█")])
def test_level(value: float, bar: str) -> None:
    assert level(value, 100) == bar


@given(st.lists(st.floats(0, 100), min_size=1, max_size=7), st.integers(14, 120))
def test_a_split_bar_is_whole_and_shows_everything_that_is_not_nothing(parts: list[float], cells: int) -> None:
    widths = split(parts, cells)
    assert sum(widths) == (cells if sum(parts) > 0 else 0)
    assert all((width > 0) == (part > 0) for width, part in zip(widths, parts, strict=True))


def test_many_small_parts_beside_large_ones_all_keep_a_cell() -> None:
    assert split([1, 1, 1, 1, 37, 37, 37], 14) == [1, 1, 1, 1, 3, 3, 4]


def test_a_split_bar_is_in_proportion() -> None:
    assert split([1, 2, 1], 40) == [10, 20, 10]
    assert split([0.001, 9.999], 20) == [1, 19]
