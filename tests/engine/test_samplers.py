"""What chat users set, through the real engine: the same answer with every drafter, and bad settings in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.protocol import ErrorCode, Failed, Sampling
from tests.engine.conftest import Driver
from tests.fixtures.scripted import Script

Scripted = Callable[..., Script]
MODES = ["off", "lookup", "draft", "auto"]
LETTERS = [f"{letter}{number} " for number in range(2) for letter in "abcdefghij"]
GREEDY: dict[str, Any] = {"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 0}


# ----------------------------------------------------------------------------------------------------------- scripted


@pytest.mark.parametrize("mode", MODES)
def test_a_grammar_overrules_the_model_and_ends_the_answer(driver: Driver, scripted: Scripted, mode: Any) -> None:
    script = scripted(LETTERS)
    draft = scripted(LETTERS, altered_every=2)  # proposes what the grammar forbids
    driver.load(script.path, draft.path, context=512)
    bias = {script.ids[0]: 5.0, script.ids[4]: 5.0}  # else bytes would spell these pieces as well as they do
    sampling = Sampling(grammar='root ::= "a0 b0 c0 d0 a0 b0 " ("x" | "e0 ") "f0 "', logit_bias=bias, **GREEDY)
    answer = driver.ask("hello", speculation=mode, sampling=sampling, draft_max=5)
    assert answer.text == "a0 b0 c0 d0 a0 b0 e0 f0 "
    assert answer.finish_reason == "stop"
    assert answer.token_ids[-1] == script.end
    if mode == "draft":
        assert answer.stats.accepted > 0
    if mode == "lookup":
        assert answer.stats.rejected > 0, "it proposes c0 again"


@pytest.mark.parametrize("mode", MODES)
def test_a_dead_end_ends_the_answer_with_a_note(driver: Driver, scripted: Scripted, mode: Any) -> None:
    script = scripted(LETTERS)
    driver.load(script.path, script.path, context=512)
    sampling = Sampling(grammar='root ::= "a0 b0 " <[99999]>', **GREEDY)
    answer = driver.ask("hello", speculation=mode, sampling=sampling)
    assert (answer.text, answer.finish_reason) == ("a0 b0 ", "stop")
    assert answer.receipt is not None
    assert any("no token that could follow" in note for note in answer.receipt.notes)
    assert answer.receipt.settings.sampling == sampling


def test_penalties_see_the_prompt(driver: Driver, scripted: Scripted) -> None:
    script = scripted(["X", "Z", "Y"], alternatives={1: ("Q", 0.2)})
    driver.load(script.path, script.path, context=512)
    sampling = Sampling(repeat_penalty=1.3, repeat_last_n=-1, **GREEDY)
    for mode in ("off", "draft"):
        assert driver.ask("Z Z", speculation=mode, sampling=Sampling(**GREEDY)).token_ids == script.ids  # type: ignore[arg-type]
        assert driver.ask("z z", speculation=mode, sampling=sampling).token_ids == script.ids  # type: ignore[arg-type]
        answer = driver.ask("Z Z", speculation=mode, sampling=sampling)  # type: ignore[arg-type]
        assert answer.receipt is not None
        assert script.ids[1] in answer.receipt.prompt_ids
        assert answer.token_ids[1] == script.alternatives[1]


@pytest.mark.parametrize("mode", MODES)
def test_dry_breaks_a_loop(driver: Driver, scripted: Scripted, mode: Any) -> None:
    script = scripted(LETTERS[:6], loop_to=0)
    driver.load(script.path, script.path, context=512)
    looping = driver.ask("hello", speculation=mode, sampling=Sampling(**GREEDY), max_tokens=40)
    assert looping.token_ids == (script.ids * 7)[:40]
    dry = Sampling(dry_multiplier=100, dry_base=2, **GREEDY)
    answer = driver.ask("hello", speculation=mode, sampling=dry, max_tokens=40)
    assert answer.token_ids[:8] == looping.token_ids[:8], "two tokens may repeat"
    assert answer.token_ids[8] != looping.token_ids[8]
    assert answer.token_ids == driver.ask("hello", sampling=dry, max_tokens=40).token_ids


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"grammar": 'root ::= "a'}, "line 1"),
        ({"grammar": 'root ::= root "a" | "a"'}, "left recursion"),
        ({"grammar": "root ::= <not-a-token>"}, "not one token of this model"),
        ({"grammar": "root ::= root"}, "allows no text"),
        ({"grammar": "root ::= [é]", "json_schema": "{}"}, "choose one"),
        ({"json_schema": "{"}, "not JSON"),
        ({"json_schema": '{"type": "string", "pattern": "^\\\\q$"}'}, "JSON schema cannot be turned"),
        ({"logit_bias": {99_999: 1.0}}, "token 99999"),
    ],
)
def test_bad_settings_are_one_sentence_and_the_engine_goes_on(
    driver: Driver, scripted: Scripted, settings: dict[str, Any], words: str
) -> None:
    script = scripted(LETTERS)
    driver.load(script.path, script.path, context=512)
    failed = driver.try_ask("hello", speculation="draft", sampling=Sampling(**settings))
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.BAD_SETTINGS
    assert words in failed.message
    assert failed.message.endswith(".")
    assert driver.ask("hello", speculation="draft").token_ids == script.ids


# ------------------------------------------------------------------------------------------------------ a real model

REAL = {
    "repeat penalty": Sampling(repeat_penalty=1.3),  # report NR-06
    "sigma and dry": Sampling(temperature=1, top_k=0, top_n_sigma=1.5, dry_multiplier=0.8, dry_allowed_length=1),
    "typical and xtc": Sampling(temperature=0.8, typical_p=0.9, xtc_probability=0.5, frequency_penalty=0.2),
}


@pytest.mark.parametrize("name", REAL)
def test_samplers_give_the_same_answer_with_any_drafter(smol: Driver, name: str) -> None:
    prompt, settings = "Name three rivers, then the same three rivers again.", {"seed": 7, "max_tokens": 60}
    plain = smol.ask(prompt, sampling=REAL[name], **settings)
    accepted = verified = 0
    for mode, draft_max in [("lookup", 4), ("draft", 3), ("draft", 7)]:
        answer = smol.ask(prompt, sampling=REAL[name], speculation=mode, draft_max=draft_max, **settings)  # type: ignore[arg-type]
        assert answer.token_ids == plain.token_ids, (mode, draft_max)
        if mode == "draft":
            accepted += answer.stats.accepted
            verified += answer.stats.accepted + answer.stats.rejected
    assert accepted > 0.5 * verified > 0, "the draft's penalties see what it proposes"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_answer_by_json_schema_is_json_that_fits(smol: Driver, temperature: float) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}, "size": {"enum": ["small", "large"]}},
        "required": ["city", "size"],
    }
    sampling = Sampling(temperature=temperature, json_schema=json.dumps(schema))
    texts = set()
    for mode in ("off", "draft"):
        answer = smol.ask("Tell me about Paris.", sampling=sampling, speculation=mode, seed=3, max_tokens=60)  # type: ignore[arg-type]
        assert answer.finish_reason == "stop"
        texts.add(answer.text)
    assert len(texts) == 1
    found = json.loads(texts.pop())
    assert set(found) == {"city", "size"}
    assert found["size"] in ("small", "large")
    assert len(found["city"]) <= 12
