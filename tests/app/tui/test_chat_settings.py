"""What a chat does otherwise than the defaults."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.presets import BUILT_IN
from app.tui.chat_presets import in_force, with_preset
from app.tui.chat_settings import (
    SETTINGS,
    Setting,
    WrongValueError,
    changes,
    differing,
    merged,
    present,
    read_value,
    shown,
    system_prompt,
    with_value,
)
from app.tui.setting import written
from engine.protocol import GenerateSettings, Sampling

SAMPLES: dict[str, object] = {
    "seed": 7,
    "draft-max": 5,
    "max-tokens": 100,
    "thinking": False,
    "dry-breakers": ("\n", "a b", "\\"),
    "logit-bias": {198: -5.0, 13: 2.5},
    "grammar": 'root ::= "yes"',
    "json-schema": '{"type": "object"}',
}
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
        ("thinking", "On", True),
        ("thinking", "off", False),
        ("thinking", "auto", None),
        ("typical", "0.9", 0.9),
        ("top-n-sigma", "1.5", 1.5),
        ("repeat-penalty", "1.1", 1.1),
        ("repeat-last-n", "-1", -1),
        ("frequency-penalty", "-0.5", -0.5),
        ("presence-penalty", "0.5", 0.5),
        ("dry-multiplier", "0.8", 0.8),
        ("dry-base", "2", 2.0),
        ("dry-allowed-length", "3", 3),
        ("dry-penalty-last-n", "0", 0),
        ("dry-breakers", "\\n : § a\\sb \\\\ \\x", ("\n", ":", "§", "a b", "\\", "\\x")),
        ("dry-breakers", "none", ()),
        ("xtc-probability", "0.5", 0.5),
        ("xtc-threshold", "0.2", 0.2),
        ("logit-bias", "198=-5 13=2", {198: -5.0, 13: 2.0}),
        ("logit-bias", "none", {}),
        ("grammar", 'root ::= "yes" | "no"', 'root ::= "yes" | "no"'),
        ("grammar", "none", None),
        ("json-schema", '{"type": "object"}', '{"type": "object"}'),
    ],
)
def test_what_is_typed_is_read_by_the_engines_own_records(name: str, typed: str, value: object) -> None:
    assert read_value(BY_NAME[name], typed) == value


def test_a_zero_has_no_sign() -> None:
    assert shown(BY_NAME["temp"], read_value(BY_NAME["temp"], "-0")) == "0"
    assert shown(BY_NAME["presence-penalty"], read_value(BY_NAME["presence-penalty"], "-0.0")) == "0"


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("temp", "11", "/temp takes 0 to 10, not 11."),
        ("temp", "nan", "/temp takes 0 to 10, not nan."),
        ("temp", "warm", "/temp takes 0 to 10, not warm."),
        ("temp", "0,7", "/temp takes 0 to 10, not 0,7."),
        ("top-k", "-1", "/top-k takes a whole number, 0 to 2,147,483,647 (0: off), not -1."),
        ("top-k", "2.5", "/top-k takes a whole number, 0 to 2,147,483,647 (0: off), not 2.5."),
        ("top-k", "9" * 24, f"/top-k takes a whole number, 0 to 2,147,483,647 (0: off), not {'9' * 24}."),
        ("top-k", "1_0", "/top-k takes a whole number, 0 to 2,147,483,647 (0: off), not 1_0."),
        ("temp", "1_0", "/temp takes 0 to 10, not 1_0."),
        ("top-p", "0", "/top-p takes above 0, up to 1 (1: off), not 0."),
        ("min-p", "2", "/min-p takes 0 to 1 (0: off), not 2."),
        ("seed", "-1", "/seed takes a whole number, 0 to 2^63-1 or random, not -1."),
        ("draft-max", "65", "/draft-max takes a whole number, 0 to 64 or auto, not 65."),
        ("max-tokens", "0", "/max-tokens takes a whole number, 1 to 2,147,483,647 or none, not 0."),
        ("thinking", "hard", "/thinking takes on, off or auto, not hard."),
        ("typical", "0", "/typical takes above 0, up to 1 (1: off), not 0."),
        ("repeat-penalty", "0", "/repeat-penalty takes 0.01 to 100 (1: off), not 0."),
        ("repeat-last-n", "-2", "/repeat-last-n takes a whole number, -1 to 2,147,483,647, not -2."),
        ("dry-allowed-length", "0", "/dry-allowed-length takes a whole number, 1 to 2,147,483,647, not 0."),
        ("xtc-probability", "2", "/xtc-probability takes 0 to 1, not 2."),
        (
            "dry-breakers",
            "",
            "/dry-breakers takes texts with a space between them (\\n: a line break, \\s: a space) or none, not .",
        ),
        (
            "logit-bias",
            "5=nan",
            "/logit-bias takes token ids, each with a bias of -1000 to 1000, such as 198=-5 13=2, or none, not 5=nan.",
        ),
        (
            "logit-bias",
            "many",
            "/logit-bias takes token ids, each with a bias of -1000 to 1000, such as 198=-5 13=2, or none, not many.",
        ),
        ("grammar", "nowhere.gbnf", "There is no file nowhere.gbnf."),
        (
            "json-schema",
            "{",
            "This is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1).",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_the_range_in_words(name: str, typed: str, words: str) -> None:
    with pytest.raises(WrongValueError) as raised:
        read_value(BY_NAME[name], typed)
    assert str(raised.value) == words


def test_a_grammar_and_a_schema_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_text('{"type":\n "object"}')
    assert read_value(BY_NAME["json-schema"], str(file)) == '{"type":\n "object"}'
    assert read_value(BY_NAME["grammar"], str(file)) == '{"type":\n "object"}'
    file.write_bytes(b"\xff")
    with pytest.raises(WrongValueError, match="a file is no UTF-8 text"):
        read_value(BY_NAME["grammar"], str(file))
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(WrongValueError, match="a file cannot be read: It is a pipe"):
        read_value(BY_NAME["grammar"], str(file))
    with pytest.raises(WrongValueError, match="This JSON schema is nested too deeply"):
        read_value(BY_NAME["json-schema"], '{"a": ' + "[" * 100_000)


def test_every_sampler_of_the_engine_can_be_set() -> None:
    assert {setting.field for setting in SETTINGS} >= set(Sampling.model_fields)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_a_value_is_kept_as_json_and_typed_as_it_is_shown(setting: Setting) -> None:
    for value in (present(DEFAULTS, setting), SAMPLES.get(setting.name)):
        if value is not None:
            kept = json.loads(json.dumps({setting.field: value}))
            now = merged(DEFAULTS, kept)
            assert present(now, setting) == value
            assert read_value(setting, written(setting, value)) == value
            assert "\n" not in shown(setting, value)


def test_hostile_values_in_the_store_are_left_out() -> None:
    own = json.loads(
        """{"temperature": NaN, "top_k": [1], "logit_bias": {"x": 1, "7": 5000}, "grammar": 5, "thinking": "maybe",
        "dry_sequence_breakers": [1], "xtc_threshold": Infinity, "repeat_penalty": {"a": 1}, "json_schema": {}}"""
    )
    assert merged(DEFAULTS, own) == DEFAULTS
    assert merged(DEFAULTS, {"logit_bias": {"7": float("nan")}}) == DEFAULTS


def test_a_grammar_and_a_schema_take_turns() -> None:
    own = with_value({"seed": 7}, BY_NAME["grammar"], 'root ::= "yes"')
    own = with_value(own, BY_NAME["json-schema"], '{"type": "object"}')
    assert own == {"seed": 7, "json_schema": '{"type": "object"}'}
    assert with_value(own, BY_NAME["grammar"], "none") == {**own, "grammar": None}
    assert with_value(own, BY_NAME["json-schema"], "default") == {"seed": 7}


class TestPresets:
    def test_one_is_in_force_by_its_values_whoever_set_them(self) -> None:
        plain = GenerateSettings(messages=())
        assert in_force(plain, {}, BUILT_IN) == "balanced"
        assert in_force(plain, {"temperature": 0.5}, BUILT_IN) == ""
        assert in_force(plain, BUILT_IN["precise"], BUILT_IN) == "precise"
        assert in_force(plain, {**BUILT_IN["precise"], "seed": 7, "logit_bias": {"7": -1}}, BUILT_IN) == "precise"
        assert in_force(plain, {**BUILT_IN["precise"], "typical_p": 0.9}, BUILT_IN) == ""

    def test_what_the_defaults_set_besides_stays(self) -> None:
        assert in_force(DEFAULTS, BUILT_IN["creative"], BUILT_IN) == "creative"
        assert merged(DEFAULTS, BUILT_IN["creative"]).sampling.repeat_penalty == 1.1

    def test_another_one_leaves_nothing_of_the_samplers_before(self) -> None:
        presets = {**BUILT_IN, "wild": {"temperature": 1.3, "dry_sequence_breakers": (".",)}}
        own = {"typical_p": 0.9, "seed": 7, "system": "Be brief.", "grammar": 'root ::= "yes"'}
        wild = with_preset(own, "wild", presets)
        assert wild == {
            "seed": 7, "system": "Be brief.", "grammar": 'root ::= "yes"', "temperature": 1.3,
            "dry_sequence_breakers": (".",),
        }  # fmt: skip
        assert in_force(DEFAULTS, json.loads(json.dumps(wild)), presets) == "wild"
        assert with_preset(wild, "Default", presets) == {key: own[key] for key in ("seed", "system", "grammar")}
        with pytest.raises(WrongValueError, match="/preset takes precise, balanced, creative, wild or default, not x"):
            with_preset(own, "x", presets)


def test_values_are_shown_shortly() -> None:
    now = merged(DEFAULTS, {"top_k": 20, "seed": None, "temperature": 0.25})
    assert [shown(BY_NAME[name], present(now, BY_NAME[name])) for name in ("temp", "top-k", "seed", "max-tokens")] == [
        "0.25",
        "20",
        "random",
        "none",
    ]
    assert differing(DEFAULTS, now) == ["top-k 20", "seed random"]
    assert changes(DEFAULTS, now) == ["temp 0.5 → 0.25", "top-k 40 → 20", "seed 9 → random"]
    ruled = merged(DEFAULTS, {"grammar": "root ::= x\n" * 50, "thinking": False, "dry_sequence_breakers": ["\n"]})
    assert differing(DEFAULTS, ruled) == ["thinking off", "dry-breakers \\n", "grammar"]
    assert changes(DEFAULTS, ruled)[2] == "grammar none → root ::= x root ::= x root ::= x root :…"
