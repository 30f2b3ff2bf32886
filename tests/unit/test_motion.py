"""With less motion an answer comes in lines and sentences, and all of it comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tui.motion import HOLD, take


def test_with_motion_everything_comes_at_once() -> None:
    fresh = ["Hel", "lo wor"]
    assert take(fresh, steps=False) == "Hello wor"
    assert fresh == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello wor", ""),
        ("One. Two", "One. "),
        ("One. Two? Three", "One. Two? "),
        ("a\nb\nc", "a\nb\n"),
        ("3.14 is", ""),
        ("", ""),
    ],
)
def test_steps_end_with_a_line_or_a_sentence(text: str, shown: str) -> None:
    fresh = [text]
    assert take(fresh, steps=True) == shown
    assert "".join(fresh) == text[len(shown) :]


def test_nobody_waits_for_the_end_of_a_long_sentence() -> None:
    fresh = ["word " * (HOLD // 4) + "wor"]
    assert take(fresh, steps=True).endswith("word ")
    assert fresh == ["wor"]
    fresh = ["x" * (2 * HOLD + 1)]
    assert take(fresh, steps=True) == "x" * (2 * HOLD + 1)


@given(st.lists(st.text(alphabet="ab. \n", max_size=150), max_size=20))
def test_no_character_is_lost_or_moved(pieces: list[str]) -> None:
    fresh: list[str] = []
    shown = ""
    for piece in pieces:
        fresh.append(piece)
        shown += take(fresh, steps=True)
    assert shown + "".join(fresh) == "".join(pieces)
