"""From tokens to text: which characters belong to which token."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answer import Answer
from engine.counting import Counter

END = 0


class Pieces:
    """A vocabulary of given pieces; token ``n`` is the piece ``n - 1``, and 0 ends the text."""

    ends = frozenset({END})

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def piece(self, token: int) -> bytes:
        return self._pieces[token - 1]

    def single_token(self, text: str) -> int | None:
        return None


def said(pieces: list[bytes], *, stop: list[str] | None = None, end: bool = False) -> tuple[str, list[str]]:
    """The answer's text, and the part of it that belongs to each token that was taken."""
    answer = Answer(
        1,
        Pieces(pieces),  # type: ignore[arg-type]
        stop=stop or [],
        max_tokens=None,
        drafter="none",
        counter=Counter(),
        emit=lambda event: None,
    )
    for token in [*range(1, len(pieces) + 1), *([END] if end else [])]:
        if answer.push(token, "t") is not None:
            break
    text, lengths = answer.finish(), answer.text_lengths()
    assert len(lengths) == len(answer.token_ids)
    assert sum(lengths) == len(text)
    starts = accumulate(lengths, initial=0)
    return text, [text[start : start + length] for start, length in zip(starts, lengths, strict=False)]


def test_a_character_belongs_to_the_token_that_completes_it() -> None:
    smile = "😀".encode()
    assert said([b"a", smile[:1], smile[1:3], smile[3:] + b"b"]) == ("a😀b", ["a", "", "", "😀b"])


def test_an_end_token_owns_nothing() -> None:
    assert said([b"Yes", b"."], end=True) == ("Yes.", ["Yes", ".", ""])


def test_what_was_held_back_belongs_to_the_token_that_brought_it() -> None:
    assert said([b"al", b"pha be", b"ar"], stop=["beta"]) == ("alpha bear", ["al", "pha be", "ar"])


def test_a_stop_string_belongs_to_nobody() -> None:
    assert said([b"alpha b", b"et", b"a gamma"], stop=["beta"]) == ("alpha ", ["alpha ", "", ""])


def test_half_a_character_at_the_end_belongs_to_nobody() -> None:
    assert said([b"a", "é".encode()[:1]]) == ("a", ["a", ""])


@given(
    st.lists(st.sampled_from([b"a", b"be", b" ", "é".encode(), b"\xf0\x9f", b"\x98\x80", b"\xff", b"ta", b""])),
    st.lists(st.sampled_from(["beta", "aa", "é ", "\ufffd\ufffd"]), max_size=2),
    st.booleans(),
)
def test_the_parts_make_the_text(pieces: list[bytes], stop: list[str], end: bool) -> None:
    text, parts = said(pieces, stop=stop, end=end)
    assert "".join(parts) == text


@pytest.mark.parametrize("text", ["", "a", "naïve 😀 text"])
@given(cuts=st.lists(st.integers(0, 30), max_size=8))
def test_nothing_is_lost_however_the_text_is_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    whole, parts = said([data[a:b] for a, b in pairwise(edges)])
    assert whole == text
    assert "".join(parts) == text
