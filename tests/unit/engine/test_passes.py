"""By which passes a cache was filled: counted, cut, written and read again."""

from __future__ import annotations

import random

import pytest

from engine.passes import BadPasses, PassLog, read_passes


def log_of(*widths: int) -> PassLog:
    log = PassLog()
    for width in widths:
        log.add(width)
    return log


def test_equal_passes_are_counted_and_a_rejected_draft_is_cut() -> None:
    log = log_of(512, 512, 37, 1, 1, 1, 3)
    log.cut(512 * 2 + 37 + 3 + 2)
    log.add(1)
    assert str(log) == "512*2 37 1*3 3/2 1"
    assert log.length == 512 * 2 + 37 + 3 + 2 + 1


def test_equal_halves_of_passes_are_counted_together() -> None:
    log = PassLog()
    for end in (2, 4, 6):
        log.add(5)
        log.cut(end)
    assert str(log) == "5/2*3"


def test_cutting_to_nothing_leaves_nothing() -> None:
    log = log_of(4, 4, 2)
    log.cut(0)
    assert (str(log), log.length) == ("", 0)


def test_a_cut_in_the_middle_of_equal_passes_keeps_the_ones_before() -> None:
    log = log_of(4, 4, 4)
    log.cut(7)
    assert str(log) == "4 4/3"


def test_it_says_what_a_plain_list_of_tokens_says() -> None:
    chance = random.Random(5)
    for _ in range(200):
        log, tokens, number = PassLog(), list[tuple[int, int]](), 0
        for _ in range(30):
            if chance.random() < 0.6:
                width = chance.choice([1, 1, 2, 3, 8])
                log.add(width)
                tokens += [(number, width)] * width
                number += 1
            else:
                length = chance.randint(0, len(tokens))
                log.cut(length)
                del tokens[length:]
        kept = [(width, sum(other == each for other, _ in tokens)) for each, width in dict(tokens).items()]
        assert [*read_passes(str(log), widest=8)] == kept
        assert log.length == len(tokens)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3/4", "a pass of 3 tokens, 4 of them kept, is not possible here"),
        ("0", "a pass of 0 tokens, 0 of them kept, is not possible here"),
        ("1 600", "a pass of 600 tokens, 600 of them kept, is not possible here"),
        ("1 -2", "'-2' is no pass"),
        ("1*x", "'1*x' is no pass"),
    ],
)
def test_what_is_no_list_of_passes_is_named(text: str, words: str) -> None:
    with pytest.raises(BadPasses, match=words.replace("*", r"\*")):
        list(read_passes(text, widest=512))
