"""Curves in braille: what is drawn where."""

from __future__ import annotations

from app.compare.plot import plot


def test_a_straight_line_rises_from_corner_to_corner() -> None:
    line = [(0.0, 1), (1.0, 100)]
    found = plot([line], 8, 4)
    assert (found.most, found.seconds) == (100, 1.0)
    assert found.lines[0].rstrip(" ")[-1] != " "
    assert found.lines[0][0] == " "
    assert found.lines[-1][0] != " "
    assert found.lines[-1][-1] == " "


def test_a_shorter_curve_ends_where_its_answer_did_and_owns_its_cells() -> None:
    found = plot([[(0.1, 10), (2.0, 40)], [(0.1, 10), (1.0, 40)]], 10, 4)
    owners = [{owner for _, owner in row} - {-1} for row in found.rows]
    assert {0, 1} <= set().union(*owners)
    assert all(owner != 1 for row in found.rows for _, owner in row[6:])


def test_curves_on_one_line_take_turns() -> None:
    line = [(0.1, 1), (1.0, 40)]
    owners = {owner for row in plot([line, line, line], 24, 6).rows for _, owner in row}
    assert owners == {-1, 0, 1, 2}


def test_nothing_is_drawn_of_nothing() -> None:
    assert plot([[], []], 4, 2).lines == ("    ", "    ")
