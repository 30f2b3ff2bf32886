"""One way to round shares, and one to write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app import percent as percents
from app.percent import finely, percent, share, shares, written

APP = Path(percents.__file__).parent
BY_HAND = re.compile(r"""\}\ ?%["' ,;.)]|:[.\d]*%\}""")


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 0, None), (0, 5, 0), (5, 5, 100), (999, 1000, 99), (1, 1000, 1), (1, 2, 50)],
)
def test_percent_is_0_or_100_only_when_it_is_exact(part: int, whole: int, words: int | None) -> None:
    assert percent(part, whole) == words


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ((), []),
        ((1, 1, 1), [34, 33, 33]),
        ((0.2, 0.3, 0.4, 99.1), [0, 0, 1, 99]),
        ((0.9, 0.9, 0.9, 0.9, 96.4), [1, 1, 1, 1, 96]),
        ((5,), [100]),
    ],
)
def test_shares_are_a_hundred_together(parts: tuple[float, ...], found: list[int]) -> None:
    assert shares(parts) == found


def test_a_share_is_written_with_a_space() -> None:
    assert (written(71), written(2.5, 1), written("<1")) == ("71 %", "2.5 %", "<1 %")
    assert (share(214, 301), share(0.999), share(0, 0), share(0, 0, unknown="")) == ("71 %", "99 %", "–", "")
    assert (finely(0.25), finely(1.0)) == ("25.0 %", "100.0 %")


def test_nothing_else_writes_a_percent_sign_behind_a_figure() -> None:
    assert BY_HAND.search('f"{share:.0%}"')
    assert BY_HAND.search('f"{share} % of it"')
    files = [file for file in APP.rglob("*.py") if file.name != "percent.py"]
    assert len(files) > 100
    found = [
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text().splitlines()
        if BY_HAND.search(line)
    ]
    assert found == []
