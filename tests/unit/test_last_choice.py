"""What was chosen last: kept whole or not at all, and never in the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.last_choice import LastChoice, Memory, still_there


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "state" / "last-choice.json")


def test_what_was_chosen_is_known_again(memory: Memory) -> None:
    assert memory.read() == LastChoice()
    memory.keep_pair("/m/target.gguf", "/m/draft.gguf", 8192)
    memory.keep_speculation("lookup")
    kept = memory.read()
    assert (kept.target, kept.draft, kept.context) == ("/m/target.gguf", "/m/draft.gguf", 8192)
    assert kept.speculation == "lookup"
    memory.keep_pair("/m/other.gguf", "", None)
    assert memory.read() == LastChoice(target="/m/other.gguf", speculation="lookup")
    memory.keep_theme("slipstream-terminal")
    assert memory.read() == LastChoice(target="/m/other.gguf", speculation="lookup", theme="slipstream-terminal")


def test_another_draft_goes_on_with_the_context_of_its_target(memory: Memory) -> None:
    memory.keep_pair("/m/target.gguf", "", 4096)
    memory.keep_draft("/m/target.gguf", "/m/draft.gguf")
    assert memory.read() == LastChoice(target="/m/target.gguf", draft="/m/draft.gguf", context=4096)
    memory.keep_draft("/m/starter.gguf", "/m/draft.gguf")
    assert memory.read().context is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff", b'{"target": 5}', b'{"speculation": "often"}', b"[" * 100_000]
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "last-choice.json"
    file.write_bytes(damage)
    memory = Memory(file)
    assert memory.read() == LastChoice()
    memory.keep_speculation("off")
    assert json.loads(file.read_bytes())["speculation"] == "off"


def test_a_folder_that_cannot_be_made_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    memory = Memory(tmp_path / "file" / "last-choice.json")
    memory.keep_pair("/m/target.gguf", "", None)
    assert memory.read() == LastChoice()


def test_nothing_is_left_beside_the_file(memory: Memory, tmp_path: Path) -> None:
    memory.keep_pair("/m/target.gguf", "", None)
    memory.keep_pair("/m/target.gguf", "", None)
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["last-choice.json"]


def test_a_file_that_is_gone_is_named_and_left_out(tmp_path: Path) -> None:
    target, draft = tmp_path / "target.gguf", tmp_path / "draft.gguf"
    target.touch()
    last = LastChoice(target=str(target), draft=str(draft), context=512, speculation="draft")
    assert still_there(last) == (last.model_copy(update={"draft": ""}), str(draft))
    draft.touch()
    assert still_there(last) == (last, "")
    target.unlink()
    assert still_there(last) == (LastChoice(speculation="draft"), str(target))
    assert still_there(LastChoice()) == (LastChoice(), "")
