"""The words of the receipt line."""

from __future__ import annotations

import pytest

from app import receipt, receipt_sheet
from app.receipt_words import spoken
from engine.protocol import GenerateSettings, ModelInfo, Receipt, SpeculationMode, TemplateInfo
from engine.stats import FIGURES, DrafterStats, Stats
from tests.app.tui import fake_client as fake

FULL = Stats(
    output_tokens=512,
    accepted=214,
    rejected=87,
    tokens_per_pass=2.91,
    decode_tokens_per_second=42.13,
    time_to_first_token=0.42,
)


LOOKUP = FULL.model_copy(update={"drafted": 313, "drafters": {"lookup": DrafterStats(drafted=313, drafts=140)}})


def words(stats: Stats, allowed: str) -> str:
    return " · ".join(part.text for part in receipt.narrow(stats, allowed) if part.text)


def test_wide() -> None:
    line = "42.1 tok/s · accepted 71 % (214/301) · 2.9 tok/pass · 0.4 s to first · 512 tok"
    assert receipt.wide(LOOKUP, "lookup") == f"{line} · lookup"
    assert receipt.wide(LOOKUP.model_copy(update={"prompt_tokens": 1388}), "lookup", 8192) == (
        f"{line} · ctx 1.9k/8k · lookup"
    )


def test_narrow() -> None:
    assert words(LOOKUP, "lookup") == " 42 tok/s ·  71 % · 2.9/pass · lookup"


def test_what_is_not_known_is_a_dash() -> None:
    assert receipt.wide(Stats(), "none") == "– tok/s · accepted – · – tok/pass · – s to first · 0 tok · plain"
    assert words(Stats(), "none") == "  – tok/s ·   –   ·   –/pass · plain"


def test_who_proposed_is_said_and_not_who_could_have() -> None:
    draft = DrafterStats(drafted=4, drafts=1)
    assert receipt.drafter_word(LOOKUP, "lookup+draft") == "lookup"
    both = LOOKUP.model_copy(update={"drafters": {"draft": draft, "lookup": draft}})
    assert receipt.drafter_word(both, "lookup+draft") == "lookup+draft"
    assert receipt.drafter_word(Stats(output_tokens=9), "lookup+draft") == "no drafts"
    assert receipt.drafter_word(Stats(output_tokens=9), "none") == "plain"
    assert receipt.drafter_word(Stats(output_tokens=9), "") == ""
    assert receipt.drafter_word(FULL.model_copy(update={"drafted": 9}), "draft") == "draft", "figures without drafters"


@pytest.mark.parametrize("allowed", ["none", "lookup", "draft", "lookup+draft"])
def test_the_room_for_the_drafter_suits_whatever_it_becomes(allowed: str) -> None:
    draft = DrafterStats(drafted=4, drafts=1)
    for names in ([], *([name] for name in allowed.split("+") if name != "none"), allowed.split("+")):
        stats = Stats(drafters=dict.fromkeys(names, draft))
        assert len(receipt.drafter_word(stats, allowed)) <= receipt.longest_drafter_word(allowed)


@pytest.mark.parametrize(("word", "figure"), receipt.EXPLAINED)
def test_every_word_of_the_line_is_explained_by_the_one_definition(word: str, figure: str) -> None:
    assert FIGURES[figure]
    assert receipt.Part(figure, word).definition is FIGURES[figure]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1.2k"),
        (1900, "1.9k"),
        (8192, "8k"),
        (9970, "10k"),
        (131072, "128k"),
    ],
)
def test_a_token_count_takes_four_characters_at_most(count: int, words: str) -> None:
    assert receipt.short_count(count) == words


def test_a_full_context_ends_at_its_size() -> None:
    kept_long_ago = Stats(prompt_tokens=31, output_tokens=226)
    assert "ctx 256/256" in receipt.wide(kept_long_ago, "none", 256)
    assert "context 256 of 256" in spoken(kept_long_ago, "none", 256)
    proof = make_receipt("none", None, "off").model_copy(update={"context": 256})
    (row,) = (row for row in receipt_sheet.tokens(kept_long_ago, proof) if row.label == "context")
    assert row.value == "256 of 256"


@pytest.mark.parametrize(("output", "used"), [(0, 31), (225, 256), (226, 256)])
def test_the_token_that_was_chosen_when_the_context_was_full_takes_none_of_it(output: int, used: int) -> None:
    assert Stats(prompt_tokens=31, output_tokens=output, context=256).context_used == used


def test_of_a_prompt_whose_reading_was_stopped_the_context_holds_what_was_read() -> None:
    stopped = Stats(prompt_tokens=3400, prompt_tokens_cached=100, prompt_tokens_unread=2900, context=8192)
    assert "ctx 500/8k" in receipt.wide(stopped, "none", 8192)
    assert "context 500 of 8,192" in spoken(stopped, "none", 8192)
    rows = {row.label: row.value for row in receipt_sheet.tokens(stopped, None)}
    assert (rows["prompt"], rows["of it not read"], rows["context"]) == ("3,400", "2,900", "500")
    assert "of it not read" not in {row.label for row in receipt_sheet.tokens(Stats(prompt_tokens=3400), None)}


@pytest.mark.parametrize("tokens", [0, 1, 2])
def test_no_speed_from_next_to_nothing(tokens: int) -> None:
    stats = Stats(output_tokens=tokens, decode_tokens_per_second=900.0)
    assert receipt.wide(stats, "none").startswith("– tok/s")
    assert words(stats, "none").startswith("  – tok/s")


def test_the_factor_only_where_it_was_measured() -> None:
    assert "x " not in receipt.wide(FULL, "lookup")
    faster = FULL.model_copy(update={"speedup": 1.314})
    assert receipt.wide(faster, "lookup").startswith("42.1 tok/s · 1.31x · accepted")
    slower = FULL.model_copy(update={"speedup": 0.93})
    assert receipt.wide(slower, "lookup").startswith("42.1 tok/s · 0.93x, slower here · accepted")
    assert (receipt.is_slower(faster), receipt.is_slower(slower)) == (False, True)


@pytest.mark.parametrize(
    ("value", "words", "exact"),
    [
        (0.00002, "0.1 ms", "0.1 ms"),
        (0.0004, "0.4 ms", "0.4 ms"),
        (0.004, "4 ms", "4 ms"),
        (0.0994, "99 ms", "99 ms"),
        (0.0996, "0.1 s", "0.10 s"),
        (0.42, "0.4 s", "0.42 s"),
        (9.94, "9.9 s", "9.94 s"),
        (12.3, "12 s", "12.30 s"),
    ],
)
def test_a_duration_is_never_zero_where_it_is_something(value: float, words: str, exact: str) -> None:
    assert receipt.duration(value) == words
    assert receipt.duration(value, digits=2) == exact
    assert receipt.duration(value, spoken=True).split()[1] == {"s": "seconds", "ms": "milliseconds"}[words.split()[1]]


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
    assert words(Stats(), "").endswith("/pass")
    assert receipt.wide(Stats(), "").endswith(" tok")


def test_a_refused_draft_is_one_line() -> None:
    words = "draft refused: vocabulary differs; lookup is used"
    lines = receipt.notes(make_receipt("lookup", "vocabulary differs", "auto", words))
    assert [line for line in lines if "refused" in line] == [words]


def test_how_an_answer_ended_where_that_was_not_by_itself() -> None:
    proof = fake.receipt()
    limited = proof.model_copy(update={"settings": GenerateSettings(messages=(), max_tokens=FULL.output_tokens)})
    noted = limited.model_copy(update={"notes": ("the context of 512 tokens is full",)})
    at = "stopped at the limit: "
    assert receipt.ended("length", FULL, limited) == f"{at}the token limit of {FULL.output_tokens:,} was reached"
    assert receipt.ended("length", FULL, noted) == f"{at}the context of 512 tokens is full"
    assert receipt.ended("length", FULL, proof) == f"{at}the end of the context was reached"
    assert receipt.ended("length", FULL, None) == f"{at}which limit is not recorded"
    assert (receipt.ended("cancelled", FULL, proof), receipt.ended("stop", FULL, proof)) == ("cancelled", "")
