"""``slipstream`` and ``slipstream chat``: what the terminal interface is opened with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from app import cli, paths
from app.commands import chat, client, options
from app.last_choice import Memory
from app.library.lookup import PairFiles
from app.library.resolve import ModelNotFoundError


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def run_chat(engine: object, load: object, **rest: Any) -> int:
        calls.append({"engine": engine, "load": load, **rest})
        return 0

    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(chat, "run_chat", run_chat)
    monkeypatch.setattr(chat, "has_to_be_plain", lambda *, by_name: False)  # tests have no terminal
    monkeypatch.setattr(client, "make_client", lambda: "the client")
    return calls


def slipstream(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["slipstream", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_without_a_command_the_chat_opens_with_the_starter(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert slipstream(monkeypatch) == 0
    (call,) = opened
    assert call["engine"] == "the client"
    assert call["load"].target.path.endswith("SmolLM2-135M-Instruct.Q4_1.gguf")
    assert call["load"].draft is None
    assert call["chats_file"] == tmp_path / "home" / "chats.sqlite"
    assert call["complaints"] == ()


def test_options_and_settings_reach_the_chat(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    text = 'system = "Be brief."\ntemperature = 0.1\ntop_k = 1\noverflow = "stop"\nsped = 3\n'
    (home / "settings.toml").write_text(text)
    model = tmp_path / "m.gguf"
    model.touch()
    assert slipstream(monkeypatch, "chat", "--model", str(model), "--speculation", "off", "--temperature", "1.5") == 0
    (call,) = opened
    defaults = call["defaults"]
    assert call["load"].target.path == str(model)
    assert (defaults.speculation, defaults.sampling.temperature, defaults.sampling.top_k) == ("off", 1.5, 1)
    assert (call["system"], call["overflow"]) == ("Be brief.", "stop")
    assert [complaint.split("'")[1] for complaint in call["complaints"]] == ["sped"]


def test_a_model_that_was_asked_for_must_be_there(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert slipstream(monkeypatch, "chat", "--model", "nowhere.gguf") == 1
    assert capsys.readouterr().err == "There is no file nowhere.gguf.\n"
    assert opened == []


def test_a_draft_that_is_not_there_is_said_and_the_chat_opens(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slipstream(monkeypatch, "chat", "--draft", "nowhere.gguf") == 0
    assert opened[0]["load"].draft is None
    assert opened[0]["complaints"] == ("The draft nowhere.gguf is not there; lookup proposes instead.",)


def test_without_the_starter_the_chats_can_still_be_read(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(model: str | None, draft: str | None, **how: bool) -> PairFiles:
        raise ModelNotFoundError("It is not on this machine yet.")

    monkeypatch.setattr(options, "find_pair_files", absent)
    assert slipstream(monkeypatch) == 0
    words = "It is not on this machine yet. ctrl+l shows the models there are."
    assert (opened[0]["load"], opened[0]["complaints"]) == (None, (words,))


# ------------------------------------------------------------------------------------------- what was chosen last


@pytest.fixture
def memory(opened: list[dict[str, Any]]) -> Memory:
    return Memory(paths.last_choice_file())


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A target and a draft that are there."""
    target, draft = tmp_path / "target.gguf", tmp_path / "draft.gguf"
    target.touch()
    draft.touch()
    return target, draft


def settle(tmp_path: Path, text: str) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "settings.toml").write_text(text)


def test_the_pair_chosen_last_is_opened_again(
    opened: list[dict[str, Any]], memory: Memory, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = files
    memory.keep_pair(str(target), str(draft), 4096)
    memory.keep_speculation("lookup")
    assert slipstream(monkeypatch) == 0
    (call,) = opened
    load = call["load"]
    assert (load.target.path, load.draft.path, load.context) == (str(target), str(draft), 4096)
    assert call["defaults"].speculation == "lookup"
    assert (call["complaints"], call["first_run"]) == ((), False)


def test_options_and_settings_stand_above_it(
    opened: list[dict[str, Any]],
    memory: Memory,
    files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    target, draft = files
    other = tmp_path / "other.gguf"
    other.touch()
    memory.keep_pair(str(target), str(draft), 4096)
    memory.keep_speculation("lookup")
    slipstream(monkeypatch, "--model", str(other), "--speculation", "off")
    assert (opened[-1]["load"].target.path, opened[-1]["load"].draft) == (str(other), None)
    assert opened[-1]["load"].context is None
    assert opened[-1]["defaults"].speculation == "off"
    slipstream(monkeypatch, "--draft", str(other))
    assert (opened[-1]["load"].target.path, opened[-1]["load"].draft.path) == (str(target), str(other))
    settle(tmp_path, f'model = "{other}"\nspeculation = "auto"\ncontext = 512\n')
    slipstream(monkeypatch)
    assert (opened[-1]["load"].target.path, opened[-1]["load"].draft) == (str(other), None)
    assert opened[-1]["defaults"].speculation == "auto"
    settle(tmp_path, "context = 512\n")
    slipstream(monkeypatch)
    assert (opened[-1]["load"].target.path, opened[-1]["load"].context) == (str(target), 512)


def test_a_model_that_is_gone_is_said_once_and_the_starter_answers(
    opened: list[dict[str, Any]], memory: Memory, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = files
    memory.keep_pair(str(target), str(draft), 4096)
    target.unlink()
    for _ in range(2):
        assert slipstream(monkeypatch) == 0
    words = f"The model chosen last is gone ({target}); the starter answers. ctrl+l shows what there is."
    assert [call["complaints"] for call in opened] == [(words,), ()]
    assert all(call["load"].target.path.endswith("SmolLM2-135M-Instruct.Q4_1.gguf") for call in opened)
    assert all(call["load"].draft is None and not call["first_run"] for call in opened)
    target.touch()  # the disk is back
    slipstream(monkeypatch)
    assert opened[-1]["load"].target.path == str(target)


def test_a_draft_that_is_gone_leaves_its_target(
    opened: list[dict[str, Any]], memory: Memory, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = files
    memory.keep_pair(str(target), str(draft), None)
    draft.unlink()
    slipstream(monkeypatch, "--model", str(target))
    assert opened[-1]["complaints"] == ()
    slipstream(monkeypatch)
    words = f"The draft chosen last is gone ({draft}); the text so far proposes. ctrl+l shows what there is."
    assert opened[-1]["complaints"] == (words,)
    assert (opened[-1]["load"].target.path, opened[-1]["load"].draft) == (str(target), None)


def test_who_has_used_nothing_but_the_starter_is_told_what_else_there_is(
    opened: list[dict[str, Any]], memory: Memory, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    slipstream(monkeypatch)
    slipstream(monkeypatch, "--model", str(files[0]))
    memory.keep_pair(str(files[0]), "", None)
    slipstream(monkeypatch)
    assert [call["first_run"] for call in opened] == [True, False, False]


def test_in_lines_it_is_opened_with_the_same(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run_plain(engine: object, load: Any, **rest: Any) -> int:
        plain.append({"load": load, **rest})
        return 0

    plain: list[dict[str, Any]] = []
    monkeypatch.setattr("app.plain.run.run_plain", run_plain)
    settle(tmp_path, 'system = "Be brief."\n')
    for arguments in (
        ("--plain",),
        ("chat", "--plain"),
        ("--plain", "chat"),
        ("--temperature", "1", "chat", "--plain"),
    ):
        assert slipstream(monkeypatch, *arguments) == 0
    slipstream(monkeypatch, "chat")
    assert len(plain) == 4
    assert plain[3]["defaults"].sampling.temperature == 1
    for name in ("chats_file", "log_path", "system", "complaints", "library", "save_folder"):
        assert plain[0][name] == opened[0][name], name
    assert plain[0]["load"] == opened[0]["load"]


@pytest.mark.parametrize(
    ("terminals", "term", "by_name", "wanted"),
    [
        ((True, True), "xterm", True, False),
        ((True, True), "dumb", False, True),
        ((False, True), "xterm", True, True),
        ((True, False), "xterm", True, True),
        ((False, False), "xterm", False, False),
    ],
)
def test_where_it_goes_line_by_line_by_itself(
    terminals: tuple[bool, bool], term: str, by_name: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat.os, "isatty", lambda fd: terminals[fd] if fd < 2 else False)
    monkeypatch.setenv("TERM", term)
    assert chat.has_to_be_plain(by_name=by_name) is wanted


def test_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert slipstream(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.startswith("slipstream 0.")


def test_options_without_a_command_are_the_chats(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = tmp_path / "m.gguf"
    model.touch()
    assert slipstream(monkeypatch, "--model", str(model), "--speculation", "off", "--context", "512") == 0
    assert opened[0]["load"].target.path == str(model)
    assert opened[0]["load"].context == 512
    assert opened[0]["defaults"].speculation == "off"
    assert slipstream(monkeypatch, "--model", str(model), "--top-k", "3", "chat", "--top-k", "5") == 0
    assert opened[1]["load"].target.path == str(model)
    assert opened[1]["defaults"].sampling.top_k == 5


@pytest.mark.parametrize("command", [(), ("chat",), ("ask",), ("doctor",)])
def test_help_names_no_types_behind_flags(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert slipstream(monkeypatch, *command, "--help") == 0
    assert "bool" not in capsys.readouterr().out


def test_colours_are_those_of_the_settings_or_else_those_chosen_last(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert slipstream(monkeypatch) == 0
    assert (opened[-1]["theme"], opened[-1]["motion"], opened[-1]["keys"]) == ("slipstream-dark", "full", {})
    opened[-1]["keep_theme"]("slipstream-terminal")
    assert slipstream(monkeypatch) == 0
    assert opened[-1]["theme"] == "slipstream-terminal"
    settings = 'theme = "slipstream-light"\nmotion = "reduced"\n[keys]\n"chat.models" = "f2"\n'
    (tmp_path / "home" / "settings.toml").write_text(settings)
    assert slipstream(monkeypatch) == 0
    call = opened[-1]
    assert (call["theme"], call["keep_theme"]) == ("slipstream-light", None)
    assert (call["motion"], call["keys"]) == ("reduced", {"chat.models": "f2"})


def test_what_is_said_before_the_chat_opens_names_the_users_key(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings.toml").write_text('model = "nowhere.gguf"\n[keys]\n"chat.models" = "f8"\n')
    assert slipstream(monkeypatch) == 0
    assert opened[-1]["complaints"][-1].endswith("f8 shows the models there are.")
