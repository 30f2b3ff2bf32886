"""Words in less room than they take."""

from __future__ import annotations

import pytest

from app.tui.whole_words import whole_words


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, "temp 1 · top-k 100 · top-p 0.95"),
        (30, "temp 1 · top-k 100"),
        (17, "temp 1"),
        (6, "temp 1"),
        (5, "temp…"),
        (3, "te…"),
    ],
)
def test_parts_are_left_out_whole(width: int, shown: str) -> None:
    assert whole_words("temp 1 · top-k 100 · top-p 0.95", width) == shown


def test_words_are_left_out_whole_and_no_figure_stands_without_its_word() -> None:
    text = "leaves out 12 turns (1,600 tokens), from now on"
    assert [whole_words(text, width) for width in (12, 16, 19, 22, 27, 36)] == [
        "leaves out…",
        "leaves out…",
        "leaves out…",
        "leaves out 12 turns…",
        "leaves out 12 turns…",
        "leaves out 12 turns (1,600 tokens)…",
    ]
    assert whole_words("nothing is sent; the text stays", 20) == "nothing is sent"
    assert whole_words("nothing is sent; the text stays", 25) == "nothing is sent; the…"
    assert whole_words("", 0) == whole_words("word", 0) == ""
