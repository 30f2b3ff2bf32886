"""The user's own models.toml: it extends the shipped one, and a mistake in it costs only its own entry."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.library.catalog import catalog
from app.library.user_catalog import LoadedCatalog, load_catalog

PAIR = """
[[pair]]
name = "mine"
title = "My own"
target = { repo = "me/Mine-GGUF", file = "*Q4_K_M*.gguf", quant = "Q4_K_M" }
draft = "lookup"
licence = "MIT"
licence_url = "https://example.org/licence"
gated = false
memory = 2.5
context = 4096
for_whom = "Me."
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "models.toml"


def load(file: Path, text: str) -> LoadedCatalog:
    file.write_text(text, encoding="utf-8")
    return load_catalog(file)


def test_no_file_is_nothing_to_speak_of(file: Path) -> None:
    assert load_catalog(file) == (catalog(), (), frozenset())


def test_own_pairs_stand_behind_ours(file: Path) -> None:
    loaded = load(file, "\ufeff" + PAIR)
    assert [pair.name for pair in loaded.catalog.pair] == [*(pair.name for pair in catalog().pair), "mine"]
    assert loaded.catalog.starter is catalog().starter
    assert (loaded.complaints, loaded.own) == ((), {"mine"})
    mine = loaded.catalog.find("my own")
    assert mine is not None
    assert mine.target.is_called("sub/Mine-q4_k_m-00001-of-00002.gguf")
    assert not mine.target.is_called("Mine-Q8_0.gguf")


def test_an_entry_of_the_same_name_replaces_ours(file: Path) -> None:
    loaded = load(file, PAIR.replace('"mine"', '"qwen3-4b"'))
    assert [pair.name for pair in loaded.catalog.pair] == [pair.name for pair in catalog().pair]
    replaced = loaded.catalog.find("qwen3-4b")
    assert replaced is not None
    assert replaced.title == "My own"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("memory = 2.5", "memory = 0", 'entry "mine", field memory: it should be greater than 0'),
        ("gated = false\n", "", 'entry "mine", field gated: it is missing'),
        ("gated = false\n", "gated = false\nstars = 5\n", 'entry "mine", field stars: it is not known here'),
        (', quant = "Q4_K_M" }', " }", 'entry "mine", field target.quant: it is missing'),
        ('draft = "lookup"', 'draft = "guess"', 'field draft: it should be "lookup" or a table like that of target'),
        ('draft = "lookup"', 'draft = { repo = "a/b", file = "x.gguf" }', "field draft.quant: it is missing"),
        ('draft = "lookup"', 'draft = { file = "x.gguf", quant = "Q8_0" }', "field draft: x.gguf: neither repo nor"),
        ('repo = "me/Mine-GGUF"', 'repo = "../../evil"', "field target.repo: ../../evil is no repository of the hub"),
        (
            'draft = "lookup"',
            'draft = { repo = "a/b", file = "x.gguf", quant = "Q8_0", licence = "MIT" }',
            "field draft: x.gguf: licence and licence_url come together",
        ),
        ('name = "mine"', "", "entry 1, field name: it is missing"),
        ("memory = 2.5", "memory = -1\nsize = 1", "field memory: it should be greater than 0; field size: it is not"),
    ],
)
def test_a_mistake_is_named_with_file_entry_and_field(old: str, new: str, words: str, file: Path) -> None:
    assert old in PAIR
    loaded = load(file, PAIR.replace(old, new) + PAIR.replace('"mine"', '"good"'))
    (complaint,) = loaded.complaints
    assert complaint.startswith(f"{file}: entry ")
    assert words in complaint
    assert complaint.endswith("; the entry is left out.")
    assert loaded.own == {"good"}
    assert loaded.catalog.starter is catalog().starter


def test_a_file_that_is_no_toml_leaves_ours(file: Path) -> None:
    loaded = load(file, "[[pair]\n")
    assert loaded.catalog is catalog()
    (complaint,) = loaded.complaints
    assert complaint.startswith(f"{file} cannot be read: ")
    assert complaint.endswith("The shipped catalogue is used.")


def test_a_folder_or_foreign_keys_are_named(file: Path, tmp_path: Path) -> None:
    assert load_catalog(tmp_path).complaints == (
        f"{tmp_path} cannot be read: Is a directory. The shipped catalogue is used.",
    )
    assert load(file, "pairs = 3\n" + PAIR).complaints == (
        f"{file}: pairs is not known here; entries stand under [[pair]].",
    )
    assert load(file, "pair = 3\n").complaints == (
        f"{file}: pair must be written as [[pair]]. The shipped catalogue is used.",
    )
    assert load(file, "pair = [3]\n").complaints == (f"{file}: entry 1 is no table; the entry is left out.",)


def test_a_name_used_twice_counts_once(file: Path) -> None:
    loaded = load(file, PAIR + PAIR.replace("My own", "Another"))
    assert loaded.complaints == (f"{file}: entry 2, field name: mine was used before; the entry is left out.",)
    assert loaded.catalog.find("mine") is loaded.catalog.find("My own")


def test_a_catalogue_that_is_no_file_or_has_no_end_costs_a_sentence(file: Path) -> None:
    os.mkfifo(file)
    words = f"{file} cannot be read: it is no regular file. The shipped catalogue is used."
    assert load_catalog(file) == (catalog(), (words,), frozenset())
    file.unlink()
    file.symlink_to("/dev/zero")
    assert load_catalog(file).complaints == (words,)
    file.unlink()
    file.write_bytes(b"#" * 1_100_000)
    words = f"{file} cannot be read: it has 1.1 MB, and a catalogue has 1 MB at most. The shipped catalogue is used."
    assert load_catalog(file).complaints == (words,)


def test_a_file_nested_too_deeply_is_named(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text("pair = " + "[" * 100_000)
    loaded = load_catalog(file)
    assert loaded.complaints == (f"{file} cannot be read: it is nested too deeply. The shipped catalogue is used.",)
    assert loaded.catalog == catalog()
