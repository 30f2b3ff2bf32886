"""Rows of the list of models: every width, every state, and figures that keep their columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.library.records import Getting, Phase
from app.library.words import left_words, of_words, percent, progress_words, speed_words
from app.tui.model_choice import matches
from app.tui.widgets.model_row import columns, heading, row
from tests.app.tui.fake_shelf import EVERYTHING, MISTRAL, QWEN, STARTER, getting

WIDTHS = [46, 58, 63, 64, 78, 97, 98, 118, 198]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_row_is_wider_than_its_list(width: int) -> None:
    at = columns(width)
    assert heading(at).cell_length <= width
    for entry in EVERYTHING:
        assert row(entry, at).cell_length <= width
        assert row(entry, at, use="in use as draft").cell_length <= width
        for phase in Phase:
            moving = getting(999_999_999, phase, entry=entry, speed=999_000_000.0)
            assert row(entry, at, getting=moving).cell_length <= width
    long = replace(MISTRAL, title="m" * 300, trouble="t" * 300)
    assert row(long, at).cell_length <= width


@pytest.mark.parametrize("width", [78, 118])
def test_figures_stand_in_columns_and_nothing_jumps(width: int) -> None:
    at = columns(width)
    rows = [
        row(QWEN, at, getting=getting(done, speed=speed)).plain
        for done, speed in ((1, 0.0), (31_000_000, 900.0), (1_300_000_000, 12_000_000.0), (3_100_000_000, 999e6))
    ]
    assert len({text.index(" %") for text in rows}) == 1
    assert len({text[: text.index("▇")] for text in rows}) == 1


@pytest.mark.parametrize("width", [78, 118])
def test_a_row_that_is_fetched_shows_share_speed_and_time(width: int) -> None:
    text = row(QWEN, columns(width), getting=getting(1_300_000_000)).plain
    assert "41 %" in text
    assert "12 MB/s" in text
    assert "3 min" in text


def test_a_row_of_unknown_size_shows_what_is_being_fetched() -> None:
    unknown = replace(QWEN, size=None)
    at = columns(118)
    assert " – " in row(unknown, at).plain
    moving = replace(getting(1_300_000_000), total=2_500_000_000)
    assert "   2.5 GB " in row(unknown, at, getting=moving).plain
    assert "   3.1 GB " in row(QWEN, at, getting=moving).plain, "what is here already counts, too"


@pytest.mark.parametrize("width", [78, 118])
def test_a_row_that_gets_nothing_says_so(width: int) -> None:
    text = row(QWEN, columns(width), getting=getting(1_300_000_000, speed=0.0, silent=True)).plain
    assert "41 %  stalled, no data" in text
    assert "kB/s" not in text


def test_speeds_are_shown_only_where_they_were_measured() -> None:
    assert speed_words(STARTER) == "42 tok/s 1.04x"
    assert speed_words(MISTRAL) == "6.3 tok/s"
    assert speed_words(QWEN) == "–"


def test_words_of_progress() -> None:
    assert progress_words(getting(1_300_000_000)) == "41 %  1.3 of 3.1 GB  12 MB/s  3 min left"
    silent = getting(1_300_000_000, speed=0.0, silent=True)
    assert progress_words(silent) == "41 %  1.3 of 3.1 GB  stalled, no data"
    assert progress_words(getting(1_300_000_000, Phase.PAUSED)) == "41 %  1.3 of 3.1 GB  paused"
    assert progress_words(getting(1_300_000_000, Phase.CHECKING)) == "41 %  1.3 of 3.1 GB  checking"
    assert progress_words(getting(QWEN.size or 0, Phase.DONE)) == "3.1 GB  whole"
    assert [left_words(seconds) for seconds in (None, 0.2, 59, 61, 5000, 5500, 10**7)] == [
        "", "1 s", "59 s", "1 min", "83 min", "1.5 h", "days"
    ]  # fmt: skip
    assert of_words(900_000_000, 1_100_000_000) == "900 MB of 1.1 GB"
    assert of_words(5, None) == "5 bytes"
    assert of_words(9_000_000, 7_700_000) == "9.0 MB", "what is longer than the file is no part of it"


def test_a_hundred_per_cent_means_every_byte() -> None:
    assert percent(Getting("k", "t", Phase.FETCHING, 999_999, 1_000_000)) == 99
    assert percent(Getting("k", "t", Phase.FETCHING, 1_000_000, 1_000_000)) == 100
    assert percent(Getting("k", "t", Phase.FETCHING, 0, 0)) == 100


def test_a_search_finds_what_a_pair_is_made_of() -> None:
    pair = replace(QWEN, target="/models/a/big-Q4_K_M.gguf", draft="/models/b/noise-Q8_0.gguf")
    assert matches(pair, "noise")
    assert matches(pair, "qwen BIG-q4")
    assert not matches(pair, "models"), "where they lie is not what they are called"
