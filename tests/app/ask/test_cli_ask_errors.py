"""``slipstream ask`` where something is wrong: one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import client
from tests.fixtures_cli.results import Slipstream, requests

# ------------------------------------------------------------------------------------------------------- the errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask"], 'There is no prompt. Give one (slipstream ask "...") or pipe one in.'),
        (["ask", "hi", "--temperature", "11"], "--temperature must be 0 to 10, not 11."),
        (["ask", "hi", "--temperature", "nan"], "--temperature must be 0 to 10, not nan."),
        (["ask", "hi", "--top-p", "0"], "--top-p must be above 0, up to 1, not 0."),
        (["ask", "hi", "--draft-max", "65"], "--draft-max must be a whole number, 0 to 64, not 65."),
        (["ask", "hi", "--max-tokens", "0"], "--max-tokens must be a whole number, 1 to 2,147,483,647, not 0."),
        (["ask", "hi", "--seed", "-1"], "--seed must be a whole number, 0 to 2^63-1, not -1."),
        (["ask", "hi", "--context", "3"], "--context must be 16 to 2,147,483,647 tokens, not 3."),
        (["ask", "hi", "--context", "-1"], "--context must be 16 to 2,147,483,647 tokens, not -1."),
        (["ask", "hi", "--context", "0"], "--context must be 16 to 2,147,483,647 tokens, not 0."),
        (
            ["ask", "hi", "--context", "100000000000000000000"],
            "--context must be 16 to 2,147,483,647 tokens, not 100000000000000000000.",
        ),
        (
            ["ask", "hi", "--gpu-layers", "some"],
            "--gpu-layers must be a whole number from 0 up or 'auto' or 'all', not some.",
        ),
        (["ask", "hi", "--model", "nowhere.gguf"], "There is no file nowhere.gguf."),
        (["ask", "hi", "--model", "."], ". is a folder, and a model is a file; it holds no .gguf file."),
        (["ask", "hi", "--seed", str(2**63)], f"--seed must be a whole number, 0 to 2^63-1, not {2**63}."),
        (["ask", "hi", "--threads", "0"], "--threads must be a whole number from 1 up, not 0."),
        (["ask", "hi", "--min-p", "-1"], "--min-p must be 0 to 1, not -1."),
        (
            ["ask", "hi", "--temperature", "warm"],
            "--temperature must be a number, not warm. See: slipstream ask --help",
        ),
        (["ask", "hi", "--top-k", "1.5"], "--top-k must be a whole number, not 1.5. See: slipstream ask --help"),
        (["compare", "hi", "--runs", "0"], "--runs must be at least 1, not 0. See: slipstream compare --help"),
        (
            ["ask", "hi", "--mode", "quick"],
            "--mode: 'quick' is not one of 'auto', 'exact', 'fast'. See: slipstream ask --help",
        ),
        (["ask", "hi", "--bogus"], "No such option: --bogus. See: slipstream ask --help"),
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
    refused = "There is no file nowhere.gguf"
    notes = [f"draft refused: {refused}; lookup is used", "something else"]
    play = {"record": str(record), "draft_refused": refused, "notes": notes}
    result = slipstream("ask", "hi", *options, play=play)
    assert (result.code, result.out) == (0, "Hello there.\n")
    first, figures, *rest = result.err.splitlines()
    assert first == "The draft nowhere.gguf is not there; lookup proposes instead."
    assert "tok/s" in figures
    assert rest == ["something else"], "the receipt's own words would tell it a second time"
    load = requests(record)[0]["settings"]
    assert (load["draft"], load["draft_refused"]) == (None, refused)


@pytest.mark.parametrize("bias", ["5=nan", "5=inf", "5=1001", "5=-1e999", "5", "five=1", "=1", "5="])
def test_a_bias_that_is_none_is_answered_with_one(slipstream: Slipstream, bias: str) -> None:
    result = slipstream("ask", "hi", "--logit-bias", "7=1000", "--logit-bias", bias)
    words = f"--logit-bias must be TOKEN_ID=BIAS, a bias of -1000 to 1000, for example 198=-5, not {bias}.\n"
    assert (result.code, result.out, result.err) == (1, "", words)


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
