"""Every request and event survives the line between the processes."""

import json
from typing import Any

import pytest

from engine.protocol import (
    EVENTS,
    REQUESTS,
    ErrorCode,
    Failed,
    Generate,
    GenerateSettings,
    Message,
    Progress,
    Sampling,
    TextDelta,
    encode,
)
from engine.stats import DrafterStats, Stats


def test_requests_and_events_come_back_as_they_were() -> None:
    request = Generate(id=3, settings=GenerateSettings(messages=(Message(role="user", content="a\nb\u2028c 🦜"),)))
    line = encode(request)
    assert line.count(b"\n") == 1
    assert REQUESTS.validate_json(line) == request
    stats = Stats(drafters={"lookup": DrafterStats(drafted=2, accepted=1, rejected=1)}, pass_widths={1: 4, 3: 1})
    text = TextDelta(id=3, text="x", token_ids=(1,), sources="t")
    for event in (Progress(id=3, stats=stats, drafter="lookup"), text):
        assert EVENTS.validate_json(encode(event)) == event


def test_samplers_come_back_as_they_were() -> None:
    sampling = Sampling(
        logit_bias={7: -3.5, 0: 1.0}, dry_sequence_breakers=("\n", "é"), grammar='root ::= "a"', top_k=3
    )
    request = Generate(id=3, settings=GenerateSettings(messages=(), sampling=sampling))
    assert REQUESTS.validate_json(encode(request)) == request


@pytest.mark.parametrize("text", ["a\ud800b", "\udce6\udcad", "nul \x00"])
def test_text_that_utf8_cannot_hold_never_stops_a_line(text: str) -> None:
    line = encode(Generate(id=1, settings=GenerateSettings(messages=(Message(role="user", content=text),))))
    back = REQUESTS.validate_json(line)
    assert isinstance(back, Generate)
    assert back.settings.messages[0].content == text.encode("utf-8", "replace").decode()
    event = EVENTS.validate_json(encode(Failed(id=1, code=ErrorCode.INTERNAL, message=text)))
    assert isinstance(event, Failed)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"top_p": 0},
        {"min_p": 2},
        {"top_k": -1},
        {"typical_p": 0},
        {"top_n_sigma": float("inf")},
        {"repeat_penalty": 0},
        {"repeat_last_n": -2},
        {"frequency_penalty": float("nan")},
        {"dry_base": 0.5},
        {"xtc_probability": 1.5},
        {"logit_bias": {"3": float("-inf")}},
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any]) -> None:
    good = json.loads(encode(Generate(id=1, settings=GenerateSettings(messages=()))))
    good["settings"]["sampling"].update(change)
    with pytest.raises(ValueError, match=next(iter(change))):
        REQUESTS.validate_json(json.dumps(good))
