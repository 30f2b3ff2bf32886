"""What a chat does otherwise than the defaults."""

from __future__ import annotations

import pytest

from app.tui.chat_settings import (
    SETTINGS,
    WrongValueError,
    differing,
    merged,
    present,
    read_value,
    shown,
    system_prompt,
)
from engine.protocol import GenerateSettings, Sampling

BY_NAME = {setting.name: setting for setting in SETTINGS}
DEFAULTS = GenerateSettings(messages=(), sampling=Sampling(temperature=0.5, repeat_penalty=1.1), seed=9)


def test_the_defaults_hold_where_the_chat_says_nothing() -> None:
    assert merged(DEFAULTS, {}) == DEFAULTS
    now = merged(DEFAULTS, {"temperature": 1, "seed": None, "speculation": "off"})
    assert now.sampling == Sampling(temperature=1, repeat_penalty=1.1)
    assert (now.seed, now.speculation) == (None, "off")


def test_a_stored_value_that_is_not_possible_is_left_out() -> None:
    own = {"temperature": 99, "seed": "x", "speculation": "fast", "unknown": 1, "system": "Be brief.", "top_k": 3}
    assert merged(DEFAULTS, own) == merged(DEFAULTS, {"top_k": 3})
    assert system_prompt("default", own) == "Be brief."
    assert system_prompt("default", {"system": 5}) == "default"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("temp", "0.7", 0.7),
        ("temp", " 1 ", 1.0),
        ("top-k", "20", 20),
        ("seed", "random", None),
        ("seed", "7", 7),
        ("draft-max", "auto", None),
        ("max-tokens", "none", None),
        ("max-tokens", "100", 100),
    ],
)
def test_what_is_typed_is_read_by_the_engines_own_records(name: str, typed: str, value: object) -> None:
    assert read_value(BY_NAME[name], typed) == value


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("temp", "11", "/temp takes 0 to 10, not 11."),
        ("temp", "nan", "/temp takes 0 to 10, not nan."),
        ("temp", "warm", "/temp takes 0 to 10, not warm."),
        ("temp", "0,7", "/temp takes 0 to 10, not 0,7."),
        ("top-k", "-1", "/top-k takes a whole number from 0 up (0: off), not -1."),
        ("top-k", "2.5", "/top-k takes a whole number from 0 up (0: off), not 2.5."),
        ("top-p", "0", "/top-p takes above 0, up to 1 (1: off), not 0."),
        ("min-p", "2", "/min-p takes 0 to 1 (0: off), not 2."),
        ("seed", "-1", "/seed takes a whole number from 0 up or random, not -1."),
        ("draft-max", "65", "/draft-max takes a whole number, 0 to 64 or auto, not 65."),
        ("max-tokens", "0", "/max-tokens takes a whole number from 1 up or none, not 0."),
    ],
)
def test_a_wrong_value_is_refused_with_the_range_in_words(name: str, typed: str, words: str) -> None:
    with pytest.raises(WrongValueError) as raised:
        read_value(BY_NAME[name], typed)
    assert str(raised.value) == words


def test_values_are_shown_shortly() -> None:
    now = merged(DEFAULTS, {"top_k": 20, "seed": None, "temperature": 0.25})
    assert [shown(BY_NAME[name], present(now, BY_NAME[name])) for name in ("temp", "top-k", "seed", "max-tokens")] == [
        "0.25",
        "20",
        "random",
        "none",
    ]
    assert differing(DEFAULTS, now) == ["top-k 20", "seed random"]
