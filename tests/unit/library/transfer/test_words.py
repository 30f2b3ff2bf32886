"""Times and sentences for people."""

from __future__ import annotations

from app.library.transfer.words import duration, kept, sentence


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.1, 40, 99, 300, 90_000)] == ["1 s", "40 s", "99 s", "5 min", "25 h"]
    assert [duration(days * 86_400) for days in (2, 30, 26_623)] == ["2 days", "30 days", "more than a year"]


def test_what_is_kept() -> None:
    assert kept(0, 100) == "nothing of it was received"
    assert kept(50, 100) == "50 bytes of 100 bytes are kept"
    assert kept(100, 100) == "all 100 bytes are kept"


def test_a_sentence_has_one_full_stop() -> None:
    assert sentence("One.", " ", "two") == "One; two."
