"""``slipstream ask`` inside this process, against an engine that is a script."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.commands import client
from tests.fixtures_cli.slipstream_fake import fake_client

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Result:
    code: int
    out: str
    err: str


Slipstream = Callable[..., Result]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "some model.gguf"
    file.write_bytes(b"GGUF")
    return file


@pytest.fixture
def slipstream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Slipstream:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(client, "make_client", fake_client)

    def run(*arguments: str, stdin: bytes | None = None, play: dict[str, Any] | None = None) -> Result:
        monkeypatch.setenv("FAKE_HOST", json.dumps(play or {}))
        monkeypatch.setattr(sys, "argv", ["slipstream", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)) if stdin is not None else None)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Result(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def ask(slipstream: Slipstream, model: Path) -> Slipstream:
    """``ask`` with a model that is there."""

    def run(*arguments: str, **options: Any) -> Result:
        return slipstream("ask", "--model", str(model), *arguments, **options)

    return run


def requests(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_text().splitlines()]


# ------------------------------------------------------------------------------------------------------- the answer


def test_stdout_is_the_answer_and_stderr_the_receipt(ask: Slipstream) -> None:
    result = ask("hello", "--seed", "5")
    assert (result.code, result.out) == (0, "Hello there.\n")
    assert result.err == (
        "42.1 tok/s · accepted 50 % (1/2) · 1.0 tok/pass · 0.4 s to first · 3 tok · ctx 8/8k · lookup · seed 5 · "
        "exact settings, untested · CPU\n"
    )


def test_text_that_ends_its_line_gets_no_second_line_end(ask: Slipstream) -> None:
    assert ask("hello", play={"pieces": ["one\n", "two\n"]}).out == "one\ntwo\n"


def test_a_pipe_gets_the_text_as_it_is(ask: Slipstream) -> None:
    text = "\x1b[2J\x07 \u202eback\u202c \r\n\x00end \U0001f30a\n"
    assert ask("hello", play={"pieces": [text]}).out == text


def test_json_is_one_object_with_everything(ask: Slipstream) -> None:
    result = ask("hello", "--json", "--seed", "9")
    assert result.code == 0
    answer = json.loads(result.out)
    assert set(answer) == {"text", "token_ids", "finish_reason", "receipt", "stats"}
    assert (answer["text"], answer["token_ids"], answer["finish_reason"]) == ("Hello there.", [0, 1, 2], "stop")
    assert answer["receipt"]["seed"] == 9
    wanted = (
        "prompt_tokens prompt_tokens_cached output_tokens target_passes drafted accepted rejected discarded acceptance "
        "coverage tokens_per_pass decode_tokens_per_second time_to_first_token load_seconds prefill_seconds "
        "draft_seconds verify_seconds choose_seconds total_seconds"
    )
    assert set(wanted.split()) <= set(answer["stats"])
    assert answer["stats"]["coverage"] is None
    assert isinstance(answer["stats"]["load_seconds"], float)


def test_what_was_done_otherwise_than_asked_is_said(ask: Slipstream) -> None:
    play = {"draft_refused": "vocabulary differs at id 1204", "notes": ["context trimmed to 4096 tokens"]}
    lines = ask("hello", play=play).err.splitlines()
    assert lines[1:] == ["lookup: draft refused, vocabulary differs at id 1204", "context trimmed to 4096 tokens"]


def test_a_refused_draft_is_told_also_where_this_answer_would_not_have_used_it(ask: Slipstream) -> None:
    lines = ask(
        "hello", "--speculation", "off", play={"draft_refused": "vocabulary differs at id 1204"}
    ).err.splitlines()
    assert lines[1:] == ["draft refused: vocabulary differs at id 1204"]


def test_an_answer_that_hit_its_limit_says_so(ask: Slipstream) -> None:
    result = ask("hello", play={"finish_reason": "length"})
    assert result.code == 0
    assert result.err.strip().endswith("stopped at the limit")


# ------------------------------------------------------------------------------------------------------- the prompt


@pytest.mark.parametrize(
    ("argument", "stdin", "prompt"),
    [
        (["hello"], None, "hello"),
        (["hello"], b"", "hello"),
        (["hello"], b" \n", "hello"),
        ([], b"from a pipe\n", "from a pipe\n"),
        (["sum up:"], b"a text", "sum up:\n\na text"),
        ([], b"\xef\xbb\xbfwith a mark", "with a mark"),
        ([], b"bad \xff\xc3 bytes", "bad \ufffd\ufffd bytes"),
        (["bad \udcff argument"], None, "bad \ufffd argument"),
        (["--", "--json"], None, "--json"),
    ],
)
def test_the_prompt(ask: Slipstream, tmp_path: Path, argument: list[str], stdin: bytes | None, prompt: str) -> None:
    record = tmp_path / "requests"
    assert ask(*argument, stdin=stdin, play={"record": str(record)}).code == 0
    messages = next(request for request in requests(record) if request["kind"] == "generate")["settings"]["messages"]
    assert messages == [{"role": "user", "content": prompt}]


def test_a_prompt_that_no_engine_could_take_is_refused_at_once(ask: Slipstream) -> None:
    result = ask(stdin=b"x" * (8 * 1024 * 1024 + 1))
    assert (result.code, result.out) == (1, "")
    assert result.err == "Standard input holds more than 8 MiB of text, too much for one prompt.\n"


def test_options_reach_the_engine(ask: Slipstream, tmp_path: Path, model: Path) -> None:
    record = tmp_path / "requests"
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF")
    options = (
        f"hello --draft {draft} --speculation draft --draft-max 5 --temperature 0 --top-k 3 --top-p 0.5 --min-p 0.1 "
        "--seed 42 --max-tokens 7 --stop END --stop FIN --system Brief. --context 512 --threads 3 --mode exact "
        "--gpu-layers 12 --draft-gpu-layers all"
    ).split()
    assert ask(*options, play={"record": str(record)}).code == 0
    load, generate = requests(record)
    assert load["settings"] == {
        "target": {"path": str(model), "gpu_layers": 12},
        "draft": {"path": str(draft), "gpu_layers": "all"},
        "draft_refused": None,
        "context": 512,
        "threads": 3,
        "mode": "exact",
    }
    sampling = generate["settings"].pop("sampling")
    assert sampling.items() >= {"temperature": 0.0, "top_k": 3, "top_p": 0.5, "min_p": 0.1}.items()
    assert generate["settings"] == {
        "messages": [{"role": "system", "content": "Brief."}, {"role": "user", "content": "hello"}],
        "seed": 42,
        "speculation": "draft",
        "draft_max": 5,
        "max_tokens": 7,
        "stop": ["END", "FIN"],
        "overflow": "stop",
        "prompt_ids": [],
        "fresh": False,
        "answer_so_far": None,
        "thinking": None,
    }


def test_the_settings_file_counts_below_the_options(ask: Slipstream, tmp_path: Path) -> None:
    record = tmp_path / "requests"
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('temperature = 0.2\ntop_k = 9\ncolour = "red"\n')
    result = ask("hello", "--top-k", "5", play={"record": str(record)})
    sampling = requests(record)[1]["settings"]["sampling"]
    assert (sampling["temperature"], sampling["top_k"]) == (0.2, 5)
    assert result.err.splitlines()[0] == "settings.toml: there is no setting 'colour'; it is ignored"


# ------------------------------------------------------------------------------------------------------- the errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask"], 'There is no prompt. Give one (slipstream ask "...") or pipe one in.'),
        (["ask", "hi", "--temperature", "11"], "--temperature must be less than or equal to 10, not 11.0."),
        (["ask", "hi", "--temperature", "nan"], "--temperature must be a finite number, not nan."),
        (["ask", "hi", "--top-p", "0"], "--top-p must be greater than 0, not 0.0."),
        (["ask", "hi", "--draft-max", "65"], "--draft-max must be less than or equal to 64, not 65."),
        (["ask", "hi", "--max-tokens", "0"], "--max-tokens must be greater than or equal to 1, not 0."),
        (["ask", "hi", "--seed", "-1"], "--seed must be greater than or equal to 0, not -1."),
        (["ask", "hi", "--context", "3"], "--context must be greater than or equal to 16, not 3."),
        (["ask", "hi", "--gpu-layers", "some"], "--gpu-layers must be a valid integer or 'auto' or 'all', not some."),
        (["ask", "hi", "--model", "nowhere.gguf"], "There is no file nowhere.gguf."),
        (["ask", "hi", "--model", "."], ". is a folder, and a model is a file; it holds no .gguf file."),
        (["ask", "hi", "--bogus"], "No such option: --bogus. See: slipstream --help"),
        (["explode"], "No such command 'explode'. See: slipstream --help"),
    ],
)
def test_bad_input_is_one_sentence(
    slipstream: Slipstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    result = slipstream(*arguments)
    assert (result.code, result.out, result.err) == (1, "", words + "\n")


def test_an_unknown_name_is_answered_with_what_is_here(slipstream: Slipstream) -> None:
    result = slipstream("ask", "hi", "--model", "smolm2")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("No model is named smolm2; known here: smollm2-135m")


@pytest.mark.parametrize("where", ["option", "settings"])
def test_a_draft_that_is_not_there_does_not_stop_the_answer(slipstream: Slipstream, tmp_path: Path, where: str) -> None:
    record, folder = tmp_path / "record", tmp_path / "home"
    folder.mkdir(exist_ok=True)
    options = ["--draft", "nowhere.gguf"] if where == "option" else []
    if not options:
        (folder / "settings.toml").write_text('draft = "nowhere.gguf"\n')
    result = slipstream("ask", "hi", *options, play={"record": str(record)})
    assert (result.code, result.out) == (0, "Hello there.\n")
    assert result.err.splitlines()[0] == "The draft nowhere.gguf is not there; lookup proposes instead."
    assert requests(record)[0]["settings"]["draft"] is None


def test_a_word_where_a_number_belongs_is_named(slipstream: Slipstream) -> None:
    result = slipstream("ask", "hi", "--temperature", "warm")
    assert (result.code, result.out) == (1, "")
    assert "--temperature" in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize("as_json", [[], ["--json"]])
@pytest.mark.parametrize("where", ["refuse", "refuse_load"])
def test_the_engines_refusal_is_said_in_its_words(ask: Slipstream, where: str, as_json: list[str]) -> None:
    words = "The prompt has 9,000 tokens and the context holds 8,192. Nothing was lost."
    result = ask("hello", *as_json, play={where: ["prompt_too_large", words]})
    assert (result.code, result.out, result.err) == (1, "", words + "\n")


def test_a_message_with_control_codes_cannot_steer_the_terminal(ask: Slipstream) -> None:
    result = ask("hello", play={"refuse": ["internal", "bad \x1b]0;title\x07 \u202e file\nsecond line"]})
    assert result.err.startswith("bad ␛]0;title␇ ")
    assert result.err.endswith(" file second line\n")
    assert "\u202e" not in result.err


@pytest.mark.parametrize(
    ("signal_number", "words"),
    [(9, "signal 9, killed; out of memory?"), (4, "signal 4, illegal instruction")],
)
def test_an_engine_that_dies_in_mid_answer(ask: Slipstream, signal_number: int, words: str) -> None:
    result = ask("hello", play={"die_after": 2, "die_by": signal_number})
    assert result.code == 1
    assert result.out == "Hello there\n"
    assert words in result.err
    assert len(result.err.splitlines()) == 1


def test_an_engine_that_cannot_start(ask: Slipstream) -> None:
    result = ask("hello", play={"exit": 3})
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("The engine stopped (exit code 3).")


def test_a_log_folder_that_cannot_be_made_does_not_stop_an_answer(ask: Slipstream, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    result = ask("hello")
    assert (result.code, result.out) == (0, "Hello there.\n")
    *complaints, figures = result.err.splitlines()
    assert any("the engine's log goes to" in complaint for complaint in complaints)
    assert figures.startswith("42.1 tok/s")


def test_a_fault_of_ours_names_the_log_and_shows_no_traceback(
    ask: Slipstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr(client, "make_client", broken)
    result = ask("hello")
    log = tmp_path / "home" / "log" / "app.log"
    assert (result.code, result.out) == (1, "")
    assert result.err == f"Something went wrong inside Slipstream (ZeroDivisionError); the details are in {log}.\n"
    assert "deep inside" in log.read_text()


# ----------------------------------------------------------------------------------------------------------- doctor


def test_doctor_says_that_all_is_well(slipstream: Slipstream) -> None:
    result = slipstream("doctor")
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("All is well.\n")
    for fact in ("2 (2 usable cores)", "CPU: A processor", "type_v=bf16", "GGML_CPU_TILED_MM=0", "SmolLM2", "whole"):
        assert fact in result.out


def test_doctor_as_json(slipstream: Slipstream, tmp_path: Path) -> None:
    report = json.loads(slipstream("doctor", "--json").out)
    assert report["problems"] == []
    assert report["engine"]["threads"] == 2
    assert {folder["path"] for folder in report["folders"]} >= {str(tmp_path / "home")}


def test_doctor_survives_an_engine_that_does_not_start(slipstream: Slipstream) -> None:
    result = slipstream("doctor", play={"exit": 3, "last_words": "no such library"})
    assert result.code == 1
    assert "1 problem:\n  The engine stopped (exit code 3). Its last words: no such library\n" in result.out


def test_doctor_names_a_broken_model_file(slipstream: Slipstream, tmp_path: Path) -> None:
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    (models / "page.gguf").write_bytes(b"<html>not found</html>")
    result = slipstream("doctor")
    assert result.code == 1
    assert "1 problem:" in result.out
    assert "page.gguf" in result.out.split("1 problem:")[1]


def test_doctor_names_a_folder_that_cannot_be_written_to(slipstream: Slipstream, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    result = slipstream("doctor")
    assert result.code == 1
    assert f"The data folder {tmp_path / 'home'} cannot be written to: {tmp_path / 'home'} is a file." in result.out
