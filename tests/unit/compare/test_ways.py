"""Ways to answer, from the words people type."""

from __future__ import annotations

import pytest

from app.compare.ways import BadWay, Way, read_ways
from engine.protocol import GenerateSettings, LoadSettings, ModelFile


def test_modes_lengths_and_drafts() -> None:
    ways = read_ways("off, lookup:4,auto=/m/tiny draft.gguf")
    assert ways == (Way("off"), Way("lookup", 4), Way("auto", None, "/m/tiny draft.gguf"))
    assert [way.label for way in ways] == ["off", "lookup:4", "auto tiny draft"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "At least two ways are needed to compare, for example: off,auto"),
        ("off,off", "A way to compare is named twice."),
        ("off,fast", "'fast' is no way to answer. Known: off, lookup, draft, auto; a length: lookup:4"),
        ("off,lookup:0", "The longest draft must be 1 to 64 tokens, not 0."),
        ("off:3,auto", "Without speculation there is no draft"),
        ("off=d.gguf,auto", "Without speculation there is no draft"),
        ("off,lookup=d.gguf", "Lookup proposes from the text so far, so there is no draft to give a file to"),
        ("off,lookup:4=d.gguf", "Lookup proposes from the text so far, so there is no draft to give a file to"),
    ],
)
def test_what_is_no_way_is_said_in_words(text: str, words: str) -> None:
    with pytest.raises(BadWay) as error:
        read_ways(text)
    assert words in str(error.value)


def test_a_way_changes_who_drafts_and_begins_from_nothing() -> None:
    wanted = GenerateSettings(messages=(), seed=4, max_tokens=9)
    made = Way("lookup", 4).settings(wanted)
    assert (made.speculation, made.draft_max, made.fresh, made.seed, made.max_tokens) == ("lookup", 4, True, 4, 9)


def test_a_draft_is_loaded_only_where_it_is_named() -> None:
    load = LoadSettings(target=ModelFile(path="t"), draft=ModelFile(path="d", gpu_layers=3))
    assert Way("auto").load(load) is load
    assert Way("auto", None, "e").load(load).draft == ModelFile(path="e", gpu_layers=3)
    assert Way("auto", None, "").load(load).draft is None
