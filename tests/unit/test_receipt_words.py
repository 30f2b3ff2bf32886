"""The figures of the receipt line in whole words."""

from __future__ import annotations

import pytest

from app import receipt
from app.receipt_words import spoken, spoken_parts
from engine.stats import DrafterStats, Stats

FULL = Stats(
    prompt_tokens=1400,
    output_tokens=512,
    drafted=313,
    accepted=214,
    rejected=87,
    tokens_per_pass=2.91,
    decode_tokens_per_second=42.13,
    time_to_first_token=0.42,
    drafters={"lookup": DrafterStats(drafted=313, drafts=140)},
)


def test_everything() -> None:
    assert spoken(FULL.model_copy(update={"speedup": 1.314}), "lookup", 8192) == (
        "42.1 tokens per second, 1.31 times plain decoding, 214 of 301 proposals accepted (71 percent), "
        "2.9 tokens per pass, 0.4 seconds to the first token, 512 tokens, context 1,912 of 8,192, proposed by lookup"
    )


def test_what_is_not_known_is_not_said() -> None:
    assert spoken(Stats(), "none") == "speed not known, 0 tokens, plain decoding"
    assert spoken(Stats(output_tokens=1), "lookup+draft") == "speed not known, 1 token, no drafts"


def test_a_loss_is_said() -> None:
    assert "0.90 times plain decoding (slower here)" in spoken(FULL.model_copy(update={"speedup": 0.9}), "lookup")


def test_who_proposed() -> None:
    both = FULL.model_copy(update={"drafters": dict.fromkeys(("lookup", "draft"), DrafterStats(drafted=1, drafts=1))})
    assert spoken(both, "lookup+draft").endswith("proposed by lookup and draft")


@pytest.mark.parametrize("stats", [FULL, Stats()])
def test_the_figures_are_those_of_the_line_in_its_order(stats: Stats) -> None:
    line = [part.figure for part in receipt.parts(stats, "lookup", 8192)]
    assert [part.figure for part in spoken_parts(stats, "lookup", 8192)] == line
