"""The words of the receipt line."""

from __future__ import annotations

import pytest

from app import receipt
from engine.protocol import GenerateSettings, ModelInfo, Receipt, SpeculationMode, TemplateInfo
from engine.stats import Stats

FULL = Stats(
    output_tokens=512,
    accepted=214,
    rejected=87,
    tokens_per_pass=2.91,
    decode_tokens_per_second=42.13,
    time_to_first_token=0.42,
)


def test_wide() -> None:
    assert receipt.wide(FULL, "lookup") == (
        "42.1 tok/s   accepted 71 % (214/301)   2.9 tok/pass   first 0.4 s   512 tok   lookup"
    )


def test_narrow() -> None:
    assert receipt.narrow(FULL, "lookup") == "42 tok/s · 71 % · 2.9/pass · lookup"


def test_what_is_not_known_is_a_dash() -> None:
    assert receipt.wide(Stats(), "none") == "– tok/s   accepted –   – tok/pass   first – s   0 tok   plain"
    assert receipt.narrow(Stats(), "none") == "– tok/s · – · –/pass · plain"


@pytest.mark.parametrize("tokens", [0, 1, 2])
def test_no_speed_from_next_to_nothing(tokens: int) -> None:
    stats = Stats(output_tokens=tokens, decode_tokens_per_second=900.0)
    assert receipt.wide(stats, "none").startswith("– tok/s")
    assert receipt.narrow(stats, "none").startswith("– tok/s")


def test_the_factor_only_where_it_was_measured() -> None:
    assert "x " not in receipt.wide(FULL, "lookup")
    faster = FULL.model_copy(update={"speedup": 1.314})
    assert receipt.wide(faster, "lookup").startswith("42.1 tok/s  1.31x   accepted")
    slower = FULL.model_copy(update={"speedup": 0.93})
    assert receipt.wide(slower, "lookup").startswith("42.1 tok/s  0.93x, slower here   accepted")
    assert receipt.narrow(faster, "lookup") == "42 tok/s · 1.31x · 71 % · 2.9/pass · lookup"
    assert receipt.narrow(slower, "lookup") == "42 tok/s · 0.93x slower · 71 % · 2.9/pass · lookup"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 0, None), (0, 5, 0), (5, 5, 100), (999, 1000, 99), (1, 1000, 1), (1, 2, 50)],
)
def test_percent_is_0_or_100_only_when_it_is_exact(part: int, whole: int, words: int | None) -> None:
    assert receipt.percent(part, whole) == words


def test_a_steady_line_keeps_its_width_while_it_counts() -> None:
    counts = [(0, 0, None, None), (1, 0, 8.04, 1.0), (18, 10, 38.7, 2.4), (214, 87, 42.1, 2.9), (899, 99, 142.7, 9.9)]
    lines = [
        receipt.wide(
            Stats(
                output_tokens=accepted + 3,
                accepted=accepted,
                rejected=rejected,
                decode_tokens_per_second=rate,
                tokens_per_pass=per_pass,
                time_to_first_token=rate and 0.4,
            ),
            "lookup+draft",
            steady=True,
        )
        for accepted, rejected, rate, per_pass in counts
    ]
    assert {len(line) for line in lines} == {receipt.STEADY_WIDTH}


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.004, "0.00"), (0.04, "0.04"), (0.094, "0.09"), (0.096, "0.1"), (0.42, "0.4"), (9.94, "9.9"), (12.3, "12")],
)
def test_seconds(value: float, words: str) -> None:
    assert receipt.seconds(value) == words


def make_receipt(drafter: str, refused: str | None, speculation: SpeculationMode, *notes: str) -> Receipt:
    target = ModelInfo(
        path="m.gguf", name="M", architecture="llama", size_bytes=1, fingerprint="f", layers=1, gpu_layers=0,
        context_trained=1, vocabulary=1,
    )  # fmt: skip
    return Receipt(
        created="2026-01-01T00:00:00Z", target=target, draft=None, draft_refused=refused,
        template=TemplateInfo(name="chatml", sha256="0", notes=("the file has no template; chatml is used",)),
        prompt_ids=(), settings=GenerateSettings(messages=(), speculation=speculation), seed=1, drafter=drafter,
        draft_max=0, mode="fast", backend="CPU", threads=1, context=1, prefill_chunk=1, versions={}, notes=notes,
    )  # fmt: skip


def test_a_refused_draft_and_everything_else_that_was_not_as_asked() -> None:
    lines = receipt.notes(make_receipt("none", "vocabulary differs at id 1204", "draft", "a note", "a note"))
    assert lines == [
        "plain: draft refused, vocabulary differs at id 1204",
        "the file has no template; chatml is used",
        "a note",
    ]


def test_a_refused_draft_is_no_news_to_those_who_asked_for_none() -> None:
    assert (
        receipt.notes(make_receipt("lookup", "vocabulary differs", "lookup"))[0]
        != "lookup: draft refused, vocabulary differs"
    )


def test_the_backend_is_named_with_the_layers_it_holds() -> None:
    assert receipt.backend_words("CPU", 30, 0) == "CPU"
    assert receipt.backend_words("CUDA0 (NVIDIA RTX 4090)", 28, 29) == "CUDA0 29/29"
    assert receipt.backend_words("CUDA0 (NVIDIA RTX 4090)", 28, 16) == "CUDA0 16/29"


def test_without_a_drafter_nothing_trails() -> None:
    assert receipt.narrow(Stats(), "") == "– tok/s · – · –/pass"
    assert receipt.wide(Stats(), "").endswith(" tok")


def test_a_refused_draft_is_one_line() -> None:
    words = "draft refused: vocabulary differs; lookup is used"
    lines = receipt.notes(make_receipt("lookup", "vocabulary differs", "auto", words))
    assert [line for line in lines if "refused" in line] == [words]
