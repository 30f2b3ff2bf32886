"""Every request and event survives the line between the processes."""

import json
from typing import Any

import pytest

from engine.protocol import (
    EVENTS,
    REQUESTS,
    AnswerSoFar,
    Count,
    Counted,
    ErrorCode,
    Failed,
    Generate,
    GenerateSettings,
    Message,
    Progress,
    Receipt,
    Sampling,
    TemplateInfo,
    TextDelta,
    ThoughtMarkers,
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


def test_what_continues_counts_and_thinks_comes_back_as_it_was() -> None:
    settings = GenerateSettings(messages=(), answer_so_far=AnswerSoFar(token_ids=(1, 2), text="ab"), thinking=False)
    for request in (Generate(id=3, settings=settings), Count(id=4, text="a b"), Count(id=5, thinking=True)):
        assert REQUESTS.validate_json(encode(request)) == request
    assert EVENTS.validate_json(encode(Counted(id=4, tokens=2, context=64))) == Counted(id=4, tokens=2, context=64)
    markers = (ThoughtMarkers(open="<think>", close="</think>"),)
    template = TemplateInfo(name="model", sha256="0", thinking="switchable", markers=markers)
    assert TemplateInfo.model_validate_json(template.model_dump_json()) == template


OLD_RECEIPT = """{"version":1,"created":"2026-11-01T00:00:00Z","target":{"path":"m.gguf","name":"M","architecture":
"llama","size_bytes":1,"fingerprint":"f","layers":1,"gpu_layers":0,"context_trained":1,"vocabulary":1},"draft":null,
"draft_refused":null,"template":{"name":"model","sha256":"0","notes":[]},"prompt_ids":[1,2],"dropped_messages":0,
"settings":{"messages":[],"sampling":{"temperature":0.7},"seed":null,"speculation":"auto","draft_max":null,
"max_tokens":null,"stop":[],"overflow":"stop"},"seed":7,"drafter":"lookup","draft_max":4,"mode":"fast","backend":"CPU",
"threads":2,"context":64,"prefill_chunk":64,"versions":{},"notes":[]}"""


def test_a_receipt_of_an_earlier_version_can_be_read() -> None:
    receipt = Receipt.model_validate_json(OLD_RECEIPT)
    assert (receipt.continued_from, receipt.starts_in_thought) == (0, False)
    assert (receipt.template.thinking, receipt.template.markers) == ("none", ())
    assert (receipt.settings.answer_so_far, receipt.settings.thinking) == (None, None)


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
