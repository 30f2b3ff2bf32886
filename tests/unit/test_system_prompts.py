"""System prompts by name: those of settings.toml, and those that were kept."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from app.locks import try_lock
from app.system_prompts import Prompt, PromptError, SystemPrompts


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "system-prompts.json"


def test_kept_and_found_by_another_instance(file: Path) -> None:
    one, other = SystemPrompts({}, file), SystemPrompts({"brief": "One sentence."}, file)
    assert other.all() == {"brief": Prompt("brief", "One sentence.", True)}
    one.keep("pirate", "Talk like a pirate.")
    one.keep("cook", "You are a cook.\nAnswer with recipes.")
    assert list(other.all()) == ["brief", "cook", "pirate"]
    assert other.find("pirate") == Prompt("pirate", "Talk like a pirate.", False)
    assert other.find("Pirate") is None
    assert other.name_of("Talk like a pirate.") == "pirate"
    assert other.name_of("Talk.") == other.name_of("") == ""
    assert one.forget("pirate").text == "Talk like a pirate."
    assert list(other.all()) == ["brief", "cook"]
    assert file.stat().st_mode & 0o077 == 0


def test_nothing_is_written_over(file: Path) -> None:
    prompts = SystemPrompts({"brief": "One sentence."}, file)
    prompts.keep("pirate", "Arr.")
    prompts.keep("pirate", "Arr.")
    for name, text, words in (
        ("pirate", "Ahoy.", "There is another system prompt called pirate: choose another name, or /system-forget it"),
        ("brief", "Two.", "settings.toml has a system prompt called brief; choose another name."),
        ("none", "x", "'none' is a word of the commands and cannot be a name."),
        ("a  b", "x", "'a b' holds control codes or spaces that would not be seen, and cannot be a name."),
        ("x" * 41, "x", "is longer than the 40 characters of a name."),
        ("new", " \n", "This chat has no system prompt that could be kept."),
        ("half", "\ud800", "This text holds characters that no file can keep."),
    ):
        with pytest.raises(PromptError) as refused:
            prompts.keep(name, text)
        assert words in str(refused.value)
    assert json.loads(file.read_text())["prompts"] == {"pirate": "Arr."}


def test_what_cannot_be_forgotten(file: Path) -> None:
    prompts = SystemPrompts({"brief": "One sentence."}, file)
    with pytest.raises(PromptError, match=r"brief stands in settings\.toml, which Slipstream only reads"):
        prompts.forget("brief")
    with pytest.raises(PromptError, match="No system prompt is kept as pirate"):
        prompts.forget("pirate")
    with pytest.raises(PromptError, match="There is no place here"):
        SystemPrompts().keep("a", "b")


@pytest.mark.parametrize("content", [b"{", b'{"prompts": {"a": 5}}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_said_and_stays(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    prompts = SystemPrompts({"brief": "One sentence."}, file)
    assert list(prompts.all()) == ["brief"]
    words = f"The system prompts in {file} cannot be read: It is damaged. It stays as it is"
    assert prompts.trouble.startswith(words)
    for change in (lambda: prompts.keep("a", "b"), lambda: prompts.forget("a")):
        with pytest.raises(PromptError, match="It stays as it is; rename it, and new ones can be kept"):
            change()
    assert file.read_bytes() == content
    file.rename(file.with_name("old"))
    prompts.keep("a", "b")
    assert list(prompts.all()) == ["brief", "a"]
    assert prompts.trouble == ""


def test_a_pipe_in_its_place_is_not_waited_for(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    prompts = SystemPrompts({}, file)
    assert prompts.all() == {}
    assert "cannot be read: It is a pipe." in prompts.trouble


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    prompts = SystemPrompts({}, tmp_path / "data" / "system-prompts.json")
    with pytest.raises(PromptError, match="cannot be created"):
        prompts.keep("a", "b")


def test_hostile_names_in_the_file_are_left_out_and_stay_in_it(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps({"prompts": {"\x1b[2J": "x", "good": "y"}, "later": [1]}))
    prompts = SystemPrompts({}, file)
    assert list(prompts.all()) == ["good"]
    prompts.keep("new", "z")
    assert json.loads(file.read_text()) == {"prompts": {"\x1b[2J": "x", "good": "y", "new": "z"}, "later": [1]}


def test_another_instance_that_writes_for_ever_is_not_waited_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.system_prompts.PATIENCE", 0.0)
    file.parent.mkdir()
    lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert try_lock(lock)
        with pytest.raises(PromptError, match="Another Slipstream is at the system prompts just now; try again"):
            SystemPrompts({}, file).keep("a", "b")
    finally:
        os.close(lock)
    assert not file.exists()


def _keep_many(file: Path, which: int) -> None:
    prompts = SystemPrompts({}, file)
    for number in range(20):
        prompts.keep(f"{which}-{number}", "x")


def test_two_instances_at_once_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_keep_many, args=(file, which)) for which in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert len(SystemPrompts({}, file).all()) == 40


def test_of_two_names_with_one_text_the_given_one_counts_and_nothing_has_no_name(file: Path) -> None:
    prompts = SystemPrompts({"empty": " "}, file)
    prompts.keep("a", "Arr.")
    prompts.keep("b", "Arr.")
    assert prompts.name_of("Arr.") == prompts.name_of("Arr.", "gone") == "a"
    assert prompts.name_of("Arr.", "b") == "b"
    assert prompts.name_of(" ", "empty") == prompts.name_of("", "a") == ""
