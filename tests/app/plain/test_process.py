"""``slipstream chat --plain`` as a process: pipes, signals, exit codes, and what it does not load."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.processes import children, wait_until_gone

ROOT = Path(__file__).resolve().parents[3]
FAKE = (sys.executable, "-m", "tests.fixtures_cli.slipstream_fake")
SLOW = {"pieces": [f"word{number} " for number in range(400)], "pause": 0.05}
HELLO = {"pieces": ["Hello", " there", "."]}
AT_EXIT = """
import atexit, os, runpy, sys
atexit.register(lambda: open(os.environ["MODULES"], "w").write(" ".join(sys.modules)))
runpy.run_module("tests.fixtures_cli.slipstream_fake", run_name="__main__")
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FAKE_HOST", "NO_COLOR")}
    return kept | {"SLIPSTREAM_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


def start(environment: dict[str, str], play: dict[str, Any], *options: str, **more: Any) -> subprocess.Popen[bytes]:
    settings = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.Popen([*FAKE, *options], env=environment | {"FAKE_HOST": json.dumps(play)}, **settings)


def run(environment: dict[str, str], play: dict[str, Any], typed: str, *options: str) -> tuple[int, str, str]:
    process = start(environment, play, *options)
    out, err = process.communicate(typed.encode(), timeout=30)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("options", [("chat", "--plain"), ("--plain",), ("--plain", "chat"), ("chat",)])
def test_a_line_is_a_message_and_answers_stand_alone(environment: dict[str, str], options: tuple[str, ...]) -> None:
    code, out, err = run(environment, HELLO, "hi\nand\\\nagain\n", *options)
    assert (code, out) == (0, "Hello there.\nHello there.\n")
    assert err.count("Receipt: 42.1 tokens per second, 1 of 2 proposals accepted (50 percent), ") == 2
    assert "\x1b" not in out + err


def test_nothing_to_read_is_no_error(environment: dict[str, str]) -> None:
    code, out, _ = run(environment, HELLO, "", "chat", "--plain")
    assert (code, out) == (0, "")


def test_hostile_answers_bring_no_escape_code(environment: dict[str, str]) -> None:
    code, out, err = run(environment, {"pieces": ["\x1b]52;c;aGFja2Vk\x07", " \x1b[2J end"]}, "hi\n/show\n", "chat")
    assert code == 0
    assert "␛]52;c;aGFja2Vk␇ ␛[2J end\n" in out
    assert "\x1b" not in out + err


def test_neither_textual_nor_rich_is_loaded(environment: dict[str, str], tmp_path: Path) -> None:
    names = tmp_path / "modules"
    typed = "hi\n/help\n/chats\n/receipt\n/temp 0.3\n/models\n/export\n/save\n/show all\n/quit\n"
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, "chat", "--plain"],
        input=typed.encode(),
        capture_output=True,
        env=environment | {"FAKE_HOST": json.dumps(HELLO), "MODULES": str(names)},
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert b"Hello there.\n" in done.stdout, done.stderr
    loaded = {name.partition(".")[0] for name in names.read_text().split()}
    assert "pydantic" in loaded
    assert not loaded & {"textual", "rich", "llama_cpp"}


def test_an_answer_that_failed_shows_in_the_exit_code(environment: dict[str, str]) -> None:
    play = {"refuse": ["internal", "The model cannot be used."]}
    code, out, err = run(environment, play, "hi\n", "chat", "--plain")
    assert (code, out) == (1, "")
    assert "The model cannot be used.\n" in err
    assert "Traceback" not in err


def test_a_command_that_is_refused_shows_in_the_exit_code(environment: dict[str, str]) -> None:
    code, out, err = run(environment, HELLO, "/temp hot\n", "chat", "--plain")
    assert (code, out) == (1, "")
    assert "/temp takes 0 to 10, not hot. It stays 0.7.\n" in err


def test_a_model_that_is_not_there_is_one_sentence(environment: dict[str, str]) -> None:
    code, out, err = run(environment, HELLO, "hi\n", "chat", "--plain", "--model", "nowhere.gguf")
    assert (code, out, err) == (1, "", "There is no file nowhere.gguf.\n")


def test_without_a_command_and_a_terminal_nothing_is_read(environment: dict[str, str]) -> None:
    code, out, err = run(environment, HELLO, "hi\n")
    assert (code, out) == (1, "")
    assert err == "The chat needs a terminal; for one answer without one: slipstream ask PROMPT\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=lambda it: str(int(it))
)
def test_a_signal_in_mid_answer_keeps_it(environment: dict[str, str], number: signal.Signals, code: int) -> None:
    process = start(environment, SLOW, "chat", "--plain")
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    read = b""
    while b"word2 " not in read:
        read += os.read(process.stdout.fileno(), 100)
    process.send_signal(number)
    _, err = process.communicate(timeout=15)
    assert process.returncode == code
    assert b"Traceback" not in err
    _, out, _ = run(environment, HELLO, "/chats\n/open 1\n/show\n", "chat", "--plain")
    assert "> word0 word1 word2 " in out


def test_a_kill_in_mid_answer_keeps_what_had_arrived(environment: dict[str, str]) -> None:
    process = start(environment, SLOW, "chat", "--plain")
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    read = b""
    while b"word30 " not in read:  # about two checkpoints
        read += os.read(process.stdout.fileno(), 4096)
    process.kill()
    process.communicate(timeout=15)
    _, out, err = run(environment, HELLO, "/open 1\n/show\n", "chat", "--plain")
    assert "answer> word0 word1 word2 " in out
    assert "Interrupted: Slipstream ended before the answer did. What had arrived is kept.\n" in out + err


def test_a_reader_that_goes_away_is_no_error_of_ours(environment: dict[str, str]) -> None:
    process = start(environment, SLOW, "chat", "--plain")
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert process.wait(timeout=15) == 141
    assert b"Traceback" not in process.stderr.read()
    process.stdin.close()
    process.stderr.close()


def test_startup_brings_no_engine_along_when_it_ends(environment: dict[str, str]) -> None:
    process = start(environment, SLOW, "chat", "--plain")
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    os.read(process.stdout.fileno(), 10)
    engines = children(process.pid)
    assert engines
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=15)
    wait_until_gone(engines, 3)
