"""``slipstream`` as a process: signals, closed pipes, terminals, foreign folders, start-up time."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pace import limit
from tests.fixtures.processes import children, wait_until_gone

ROOT = Path(__file__).resolve().parents[2]
FAKE = (sys.executable, "-m", "tests.fixtures_cli.slipstream_fake")
Process = subprocess.Popen[bytes]
SLOW = {"pieces": [f"word{number} " for number in range(200)], "pause": 0.05}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FAKE_HOST", "NO_COLOR")}
    return kept | {"SLIPSTREAM_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    return str(file)


def start(
    environment: dict[str, str], play: dict[str, Any], *arguments: str, **options: Any
) -> subprocess.Popen[bytes]:
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([*FAKE, *arguments], env=environment | {"FAKE_HOST": json.dumps(play)}, **settings)


def test_ctrl_c_keeps_the_partial_answer(environment: dict[str, str], model: str) -> None:
    process = start(environment, SLOW, "ask", "hello", "--model", model)
    assert process.stdout
    first = os.read(process.stdout.fileno(), 100)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (first + out).decode().startswith("word0 ")
    assert (first + out).endswith(b"\n")
    assert err.decode().strip().endswith("cancelled")
    assert b"Traceback" not in err


def test_ctrl_c_with_json_prints_the_object(environment: dict[str, str], model: str, tmp_path: Path) -> None:
    record = tmp_path / "requests"
    process = start(environment, SLOW | {"record": str(record)}, "ask", "hello", "--model", model, "--json")
    wait_for_request(record, "generate")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=10)
    answer = json.loads(out)
    assert process.returncode == 130
    assert answer["finish_reason"] == "cancelled"
    assert answer["text"].startswith("word0 ")


def test_ctrl_c_while_the_model_loads(environment: dict[str, str], model: str, tmp_path: Path) -> None:
    record = tmp_path / "requests"
    process = start(environment, {"slow_load": 30, "record": str(record)}, "ask", "hello", "--model", model)
    wait_for_request(record, "load")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (130, b"", b"cancelled\n")


def test_ctrl_c_and_an_engine_that_does_not_listen(environment: dict[str, str], model: str) -> None:
    process = start(environment, SLOW | {"deaf": True}, "ask", "hello", "--model", model)
    assert process.stdout
    first = os.read(process.stdout.fileno(), 100)
    engines = children(process.pid)
    assert engines
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (first + out).startswith(b"word0 ")
    assert b"cancelled" in err
    wait_until_gone(engines, 1)


def test_a_second_ctrl_c_waits_for_nobody(environment: dict[str, str], model: str) -> None:
    process = start(environment, SLOW | {"deaf": True}, "ask", "hello", "--model", model)
    assert process.stdout
    os.read(process.stdout.fileno(), 100)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert time.monotonic() - began < limit(1)


def wait_for_request(record: Path, kind: str) -> None:
    deadline = time.monotonic() + 10
    while not (record.exists() and f'"kind":"{kind}"' in record.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_closed_pipe_ends_quietly(environment: dict[str, str], model: str) -> None:
    process = start(environment, SLOW, "ask", "hello", "--model", model)
    assert process.stdout
    os.read(process.stdout.fileno(), 100)
    engines = children(process.pid)
    assert engines
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    assert process.wait(timeout=10) == 141
    wait_until_gone(engines, 3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
def test_a_full_disk_is_said(environment: dict[str, str], model: str) -> None:
    with open("/dev/full", "wb") as full:
        process = start(environment, {}, "ask", "hello", "--model", model, stdout=full)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert err == b"The answer could not be written: No space left on device.\n"


def test_closed_standard_streams(environment: dict[str, str], model: str) -> None:
    command = " ".join(f"'{word}'" for word in (*FAKE, "ask", "hello", "--model", model))
    assert subprocess.run(["sh", "-c", f"{command} <&- >&- 2>&-"], env=environment, timeout=20).returncode == 0


def test_a_terminal_never_sees_the_models_control_codes(environment: dict[str, str], model: str) -> None:
    hostile = ["\x1b[2J", "\x07beep ", "\u202e", "\x9b31m", "a\r", "\nb\tc\r\n", "wave \U0001f30a\n"]
    output = in_terminal(environment, {"pieces": hostile}, "ask", "hello", "--model", model)
    answer = output.decode().split("42.1 tok/s")[0]
    # What is left of escape codes is our own progress line; ONLCR made every \n a \r\n.
    text = answer.rsplit("\x1b[K", 1)[-1].replace("\r\n", "\n")
    assert text.startswith("␛[2J␇beep ")
    assert not {"\x1b", "\x07", "\r", "\u202e", "\x9b"} & set(text)
    assert text.endswith("\nb\tc\nwave \U0001f30a\n")


def test_a_terminal_that_hangs_up_leaves_no_engine(environment: dict[str, str], model: str) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(FAKE[0], [*FAKE, "ask", "hello", "--model", model], environment | {"FAKE_HOST": json.dumps(SLOW)})
    read_until(terminal, b"word3")
    engines = children(pid)
    assert engines
    os.close(terminal)
    os.waitpid(pid, 0)
    wait_until_gone(engines, 2)


def in_terminal(environment: dict[str, str], play: dict[str, Any], *arguments: str) -> bytes:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(FAKE[0], [*FAKE, *arguments], environment | {"FAKE_HOST": json.dumps(play)})
    output = read_until(terminal, None)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return output


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    output = b""
    while wanted is None or wanted not in output:
        ready, _, _ = select.select([terminal], [], [], 15)
        assert ready, output
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux: the other side is closed
            piece = b""
        if not piece:
            break
        output += piece
    return output


def test_a_users_own_engine_folder_is_left_alone(environment: dict[str, str], tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("slipstream")
    for package in ("engine", "app", "llama_cpp"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('the wrong package')")
    del environment["PYTHONPATH"]
    done = subprocess.run([script, "--version"], cwd=tmp_path, env=environment, capture_output=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    done = subprocess.run([script, "doctor"], cwd=tmp_path, env=environment, capture_output=True, timeout=60)
    assert b"the wrong package" not in done.stdout + done.stderr


def test_help_imports_next_to_nothing(environment: dict[str, str]) -> None:
    heavy = ("textual", "pydantic", "asyncio", "numpy", "huggingface_hub", "llama_cpp", "jinja2", "engine")
    code = (
        "import sys\nfrom app import cli\nsys.argv = ['slipstream', '--help']\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=20)
    assert b"ask" in done.stdout
    assert done.stderr == b"[]\n"
