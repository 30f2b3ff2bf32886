"""What may draft for a model, in order of promise, and why the rest may not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.library.local import LocalModel, LocalScan
from app.library.verdicts import DraftCost, DraftVerdict, judge_drafts
from engine.protocol import PLAIN_ONLY
from tests.fixtures.headers import WORDS, states, strings, write_model
from tests.fixtures.pace import limit

Scan = Callable[..., LocalScan]


@pytest.fixture
def judged(folder: Path, look: Scan) -> Callable[..., list[DraftVerdict]]:
    """``judged("target")``: the verdicts on everything in the folder for the file of this name."""

    def judge(target: str, *args: Any) -> list[DraftVerdict]:
        models = look().models
        return judge_drafts(named(models, target), models, *args)

    return judge


def named(models: tuple[LocalModel, ...], stem: str) -> LocalModel:
    return next(model for model in models if model.path.stem == stem)


def reasons(verdicts: list[DraftVerdict]) -> dict[str, str]:
    return {verdict.draft.path.stem if verdict.draft else "lookup": verdict.reason for verdict in verdicts}


def test_the_list_in_order_of_promise(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "small.gguf", size=1_000_000, name="small")
    write_model(folder / "smaller.gguf", size=500_000, name="smaller")
    write_model(folder / "large.gguf", size=9_000_000, name="large")
    write_model(folder / "stranger.gguf", tokens=[*WORDS[:-1], "odd"], name="stranger")
    write_model(folder / "embedder.gguf", architecture="bert")
    cut = write_model(folder / "cut.gguf")
    os.truncate(cut, cut.stat().st_size - 1000)
    verdicts = judged("target")
    assert [(v.draft.path.stem if v.draft else "lookup", v.kind, v.can_draft) for v in verdicts] == [
        ("lookup", "lookup", True),
        ("smaller", "fits", True),
        ("small", "fits", True),
        ("large", "too large", True),
        ("target", "same file", True),
        ("stranger", "other vocabulary", False),
        ("cut", "not whole", False),
        ("embedder", "no draft", False),
    ]
    size = cut.stat().st_size
    assert reasons(verdicts) == {
        "lookup": "free, needs no file: it proposes what the text so far repeats",
        "smaller": "same vocabulary; a token costs 0.05 of a pass (by the sizes), which pays from 60 % accepted",
        "small": "same vocabulary; a token costs 0.10 of a pass (by the sizes), which pays from 65 % accepted",
        "large": "too large to pay: a token costs 0.90 of a pass (by the sizes), so not even full acceptance would pay",
        "target": "the model itself: a draft that is as slow as its target cannot pay",
        "stranger": 'vocabulary differs at id 299: "word296" here, "odd" in the draft',
        "cut": f"cut.gguf is incomplete: the header promises {size + 1000:,} bytes, {size:,} are here",
        "embedder": "it is an embedding model: it turns text into numbers and writes none",
    }


def test_what_was_measured_counts_more_than_sizes(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "heavy.gguf", size=9_000_000, name="heavy")
    write_model(folder / "light.gguf", size=1_000_000, name="light")
    costs = {"heavy": DraftCost(0.15, {2: 1.05, 4: 1.1, 8: 1.2}), "light": DraftCost(0.8)}

    def measured(target: LocalModel, draft: LocalModel) -> DraftCost | None:
        assert target.path.stem == "target"
        return costs[draft.path.stem]

    verdicts = judged("target", measured)
    heavy, light = verdicts[1], verdicts[2]
    assert (heavy.kind, heavy.measured, heavy.cost) == ("fits", True, 0.15)
    assert heavy.reason.startswith("same vocabulary; a token costs 0.15 of a pass (measured here), which pays from ")
    assert light.kind == "too large"
    assert light.reason == (
        "too large to pay: a token costs 0.80 of a pass (measured here), so not even full acceptance would pay"
    )


def test_more_than_any_draft_has_accepted(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "draft.gguf", size=4_000_000, name="draft")
    verdict = judged("target")[1]
    assert verdict.kind == "too large"
    assert verdict.reason.startswith("too large to pay: a token costs 0.40 of a pass (by the sizes), so 9")
    assert verdict.reason.endswith("% would have to be accepted")


def test_padding_may_differ(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "draft.gguf", tokens=[*WORDS, "more"], name="draft")
    words = "same vocabulary up to id 299; the draft has 1 more pieces; a token costs 0.01 of a pass (by the sizes), "
    assert judged("target")[1].reason.startswith(words)


def test_the_architecture_does_not_matter(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "draft.gguf", architecture="internlm2")
    assert judged("target")[1].kind == "fits"


def test_another_type_and_another_start(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "type.gguf", extra={"tokenizer.ggml.model": "gpt2"})
    write_model(folder / "start.gguf", extra={"tokenizer.ggml.add_bos_token": False})
    words = reasons(judged("target"))
    assert words["type"] == "other vocabulary: type llama with 300 pieces here, type gpt2 with 300 in the draft"
    assert words["start"] == "start tokens differ: id 1 is added here, none is added in the draft"


def test_a_target_that_cannot_take_tokens_back(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", architecture="mamba", size=10_000_000, name="target", extra=states("mamba"))
    write_model(folder / "draft.gguf")
    verdicts = judged("target")
    assert verdicts[0].draft is None
    assert {v.kind for v in verdicts} == {"plain only"}
    assert {v.reason for v in verdicts} == {PLAIN_ONLY}
    assert not any(v.can_draft for v in verdicts)


def test_a_header_without_what_its_architecture_needs(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", size=10_000_000, name="target")
    write_model(folder / "bare.gguf", architecture="mamba", extra={"mamba.ssm.state_size": 4})
    write_model(folder / "flat.gguf", extra={"llama.block_count": None})
    write_model(folder / "headless.gguf", extra={"llama.attention.head_count": None})
    write_model(folder / "good.gguf", architecture="mamba", extra=states("mamba"))
    verdicts = judged("target")
    assert {v.draft.path.stem: v.can_draft for v in verdicts if v.draft} == {
        "target": True, "good": True, "bare": False, "flat": False, "headless": False,
    }  # fmt: skip
    assert reasons(verdicts)["bare"] == (
        "its header says mamba and lacks mamba.ssm.conv_kernel, mamba.ssm.inner_size, mamba.ssm.time_step_rank, so it "
        "cannot be loaded"
    )
    assert reasons(verdicts)["flat"] == "its header says llama and lacks llama.block_count, so it cannot be loaded"
    assert reasons(verdicts)["headless"] == (
        "its header says llama and lacks llama.attention.head_count, so it cannot be loaded"
    )


def test_a_target_without_a_vocabulary(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", extra={"tokenizer.ggml.tokens": None}, name="target")
    write_model(folder / "draft.gguf")
    assert reasons(judged("target"))["draft"] == "target carries no vocabulary"


def test_nothing_but_lookup(folder: Path, judged: Callable[..., list[DraftVerdict]]) -> None:
    write_model(folder / "target.gguf", name="target")
    assert [verdict.kind for verdict in judged("target")] == ["lookup", "same file"]


def test_a_copy_of_the_target_elsewhere_is_the_target(smol_path: Path, folder: Path, look: Scan) -> None:
    (folder / "link.gguf").symlink_to(smol_path)
    (model,) = look().models
    assert [verdict.kind for verdict in judge_drafts(model, [model])] == ["lookup", "same file"]


def test_two_hundred_models_are_judged_within_a_second(folder: Path, look: Scan) -> None:
    """The worst case: vocabularies of 49,152 pieces that all differ in one late piece."""
    words = [f"piece {number}" for number in range(49_152)]
    write_model(folder / "target.gguf", name="target", tokens=strings(words), size=10_000_000)
    same = strings(words)
    for number in range(100):
        write_model(folder / f"same{number}.gguf", name=f"same {number}", tokens=same, size=500_000 + number)
    for number in range(100):
        other = [*words[:-10], f"odd {number:05}", *words[-9:]]
        write_model(folder / f"odd{number}.gguf", name=f"odd {number}", tokens=strings(other), size=700_000 + number)
    models = look().models
    target = named(models, "target")
    started = time.process_time()
    verdicts = judge_drafts(target, models)
    assert time.process_time() - started < limit(1.0)
    assert sum(verdict.kind == "fits" for verdict in verdicts) == 100
    odd = [verdict for verdict in verdicts if verdict.kind == "other vocabulary"]
    assert len(odd) == 100
    assert all(verdict.reason.startswith('vocabulary differs at id 49142: "piece 49142" here, ') for verdict in odd)
