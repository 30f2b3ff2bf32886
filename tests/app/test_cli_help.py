"""What --help of the commands about speed says is what they do."""

from __future__ import annotations

import pytest

from app.compare.suite import bundled
from app.compare.ways import read_ways
from engine.protocol import Sampling
from tests.fixtures_cli.results import Slipstream


def words(slipstream: Slipstream, command: str) -> str:
    """Without the frame of the tables."""
    said = slipstream(command, "--help")
    assert said.code == 0
    return " ".join(said.out.replace("│", " ").split())


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 400)


@pytest.mark.parametrize("command", ["compare", "bench"])
def test_the_ways_that_are_named_there_can_be_taken(slipstream: Slipstream, command: str) -> None:
    assert (
        "Ways to answer, the others held against the first: off, lookup, draft, auto; lookup:4 drafts at most "
        "4 tokens, auto=DRAFT.gguf uses this draft."
    ) in words(slipstream, command)
    assert [way.label for way in read_ways("off,lookup,draft,auto,lookup:4,auto=DRAFT.gguf")] == [
        "off", "lookup", "draft", "auto", "lookup:4", "auto DRAFT",
    ]  # fmt: skip


def test_bench_names_the_kinds_of_work_that_there_are(slipstream: Slipstream) -> None:
    kinds = ", ".join(dict.fromkeys(task.category for task in bundled()))
    assert f"of the bundled ones {kinds}." in words(slipstream, "bench")
    assert '"prompt" or "messages", and "category" if wanted.' in words(slipstream, "bench")


def test_what_prints_several_says_that_its_json_is_an_array(slipstream: Slipstream) -> None:
    for command, form in (
        ("replay", "Print a JSON array"),
        ("speeds", "Print a JSON array"),
        ("receipt", "one JSON object"),
    ):
        assert form in words(slipstream, command)


def test_replay_says_what_as_was_is_and_how_it_ends(slipstream: Slipstream) -> None:
    said = words(slipstream, "replay")
    assert "as-was: anew as it was made, or by its passes where it was not exact." in said
    assert "exit code 2 where it is another one." in said


def test_where_the_number_of_a_chat_stands(slipstream: Slipstream) -> None:
    assert "The same in this chat; receipt tells its number." in words(slipstream, "compare")


def test_the_pair_of_a_score_is_bracketed_once(slipstream: Slipstream) -> None:
    assert "score [OPTIONS] [PAIR] Say" in words(slipstream, "score")


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_what_is_not_given_is_where_the_help_says(slipstream: Slipstream, command: str) -> None:
    said = words(slipstream, command)
    assert "as settings.toml says; slipstream help settings shows every setting with its default." in said
    assert "# temperature = 0.7" in slipstream("help", "settings").out


def test_every_sampler_that_can_be_off_says_at_which_value(slipstream: Slipstream) -> None:
    """Of those that are off by another's value the other says it."""
    said = words(slipstream, "ask")
    for name, field in Sampling.model_fields.items():
        if field.description in ("1: off", "0: off"):
            option = f"--{name.replace('_', '-')} "
            line = said[said.index(option) :].split(" --")[0]
            assert field.description in line.replace("0: all", "0: off"), line
