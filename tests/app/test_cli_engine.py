"""``slipstream ask`` with the real engine and the starter model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.library.catalog import catalog
from app.library.resolve import ModelNotFoundError, find_source

ROOT = Path(__file__).resolve().parents[2]
SLIPSTREAM = Path(sys.executable).with_name("slipstream")


@pytest.fixture(scope="module")
def starter() -> Path:
    try:
        return find_source(catalog().starter.target, Path("nowhere"))
    except ModelNotFoundError:
        pytest.skip("the starter model is not installed")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"SLIPSTREAM_HOME": str(tmp_path / "home")}


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A user's folder with packages of our names in it."""
    folder = tmp_path / "project"
    for package in ("engine", "app", "llama_cpp"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("raise SystemExit('the wrong package')")
    return folder


def ask(environment: dict[str, str], *arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [SLIPSTREAM, "ask", *arguments]
    return subprocess.run(
        command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )


def test_the_starter_answers_by_itself_in_any_folder(environment: dict[str, str], foreign: Path, starter: Path) -> None:
    done = ask(environment, "Say hello.", "--max-tokens", "8", cwd=foreign)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    (figures,) = done.stderr.splitlines()
    assert "tok/s" in figures
    assert "seed" in figures


@pytest.mark.parametrize("temperature", ["0", "0.8"])
def test_speculation_never_changes_the_answer(environment: dict[str, str], starter: Path, temperature: str) -> None:
    prompt = "Repeat this list twice: red, green, blue, red, green, blue."
    answers = []
    for speculation in ("off", "lookup", "draft", "auto"):
        options = ["--temperature", temperature, "--seed", "11", "--max-tokens", "24", "--speculation", speculation]
        done = ask(environment, prompt, "--json", "--draft", starter, *options)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    assert len({tuple(answer["token_ids"]) for answer in answers}) == 1
    assert {answer["receipt"]["seed"] for answer in answers} == {11}
    off, *drafted = [answer["stats"] for answer in answers]
    assert (off["drafted"], off["acceptance"]) == (0, None)
    for stats in (off, *drafted):
        assert stats["drafted"] == stats["accepted"] + stats["rejected"] + stats["discarded"]
        assert stats["output_tokens"] == len(answers[0]["token_ids"])


@pytest.mark.parametrize("cut", [0, 3, 1000, 3_000_000])
def test_a_file_that_is_cut_short(environment: dict[str, str], starter: Path, tmp_path: Path, cut: int) -> None:
    with open(starter, "rb") as whole:
        (tmp_path / "cut.gguf").write_bytes(whole.read(cut))
    refused(ask(environment, "hi", "--model", tmp_path / "cut.gguf"), "cut.gguf")


def test_a_file_that_is_something_else(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>" * 100)
    refused(ask(environment, "hi", "--model", tmp_path / "page.gguf"), "page.gguf")


def test_a_prompt_larger_than_the_context_names_both_sizes(environment: dict[str, str], starter: Path) -> None:
    refused(ask(environment, "word " * 500, "--context", "256"), "256")


def refused(done: subprocess.CompletedProcess[str], word: str) -> None:
    assert (done.returncode, done.stdout) == (1, "")
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_ctrl_c(environment: dict[str, str], starter: Path) -> None:
    command = [SLIPSTREAM, "ask", "Write a very long story about a ship.", "--temperature", "1"]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    first = os.read(process.stdout.fileno(), 100)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (first + out).endswith(b"\n")
    assert err.decode().strip().endswith("cancelled")


def test_doctor(environment: dict[str, str], starter: Path, foreign: Path) -> None:
    done = subprocess.run(
        [SLIPSTREAM, "doctor", "--json"], env=environment, cwd=foreign, capture_output=True, text=True, timeout=60
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["problems"]) == (0, [])
    assert report["engine"]["devices"]
    assert report["models"][0]["path"] == str(starter)


def test_doctor_tells_how_exact_the_model_is_and_remembers_it(environment: dict[str, str], starter: Path) -> None:
    done = subprocess.run(
        [SLIPSTREAM, "doctor", "--self-test", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    found = json.loads(done.stdout)["exactness"]
    assert found["widths"] >= 4, found
    assert found["exact"] is True
    assert found["gpu_layers"] == 0
    assert "agree bit for bit" in found["words"]
    answered = ask(environment, "Say hello.", "--max-tokens", "2", "--json")
    assert json.loads(answered.stdout)["receipt"]["mode"] == "exact"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--logit-bias", "many"], "--logit-bias must be TOKEN_ID=BIAS"),
        (["--grammar-file", "nowhere.gbnf"], "--grammar-file: nowhere.gbnf cannot be read"),
        (["--repeat-penalty", "0"], "--repeat-penalty must be"),
    ],
)
def test_sampler_options_out_of_bounds_are_named(
    environment: dict[str, str], starter: Path, arguments: list[str], words: str
) -> None:
    done = ask(environment, "hi", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_answer_follows_a_schema(environment: dict[str, str], starter: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}')
    done = ask(environment, "Give me a number.", "--json-schema-file", schema, "--temperature", "0")
    assert isinstance(json.loads(done.stdout)["n"], int)
