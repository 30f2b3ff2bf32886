"""Sizes and times for people."""

from __future__ import annotations

import pytest

from app.library.transfer.words import duration, kept, sentence, size, two_sizes


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (8_000_000, "8.0 MB"),
        (9_949_999, "9.9 MB"),
        (9_950_000, "10 MB"),
        (98_362_432, "98 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.0 GB"),
        (19_850_000_000, "19.9 GB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_two_sizes_differ_in_words_when_they_differ() -> None:
    assert two_sizes(7_000_000, 8_000_000) == ("7.0 MB", "8.0 MB")
    assert two_sizes(8_000_000, 8_000_001) == ("8,000,000 bytes", "8,000,001 bytes")
    assert two_sizes(5, 5) == ("5 bytes", "5 bytes")


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.1, 40, 99, 300, 90_000)] == ["1 s", "40 s", "99 s", "5 min", "25 h"]


def test_what_is_kept() -> None:
    assert kept(0, 100) == "nothing of it was received"
    assert kept(50, 100) == "50 bytes of 100 bytes are kept"
    assert kept(100, 100) == "all 100 bytes are kept"


def test_a_sentence_has_one_full_stop() -> None:
    assert sentence("One.", " ", "two") == "One; two."
