"""Sizes as people read them."""

from __future__ import annotations

import pytest

from engine.files.sizes import size_words, two_sizes


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
        (999_949_999_999, "999.9 GB"),
        (999_950_000_000, "1.0 TB"),
    ],
)
def test_sizes_in_words(count: int, text: str) -> None:
    assert size_words(count) == text


def test_two_sizes_differ_in_words_when_they_differ() -> None:
    assert two_sizes(7_000_000, 8_000_000) == ("7.0 MB", "8.0 MB")
    assert two_sizes(8_000_000, 8_000_001) == ("8,000,000 bytes", "8,000,001 bytes")
    assert two_sizes(5, 5) == ("5 bytes", "5 bytes")
