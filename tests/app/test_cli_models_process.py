"""``slipstream models pull`` as a process: Ctrl+C, and the lines it draws on a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.homes import ONE_TARGET, Home, make_home
from tests.fixtures.hub import Hub
from tests.fixtures.pace import limit
from tests.fixtures.scripted import Script

ROOT = Path(__file__).resolve().parents[2]
PULL = (sys.executable, "-m", "app", "models", "pull", "one", "--yes")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Script], hub: Hub) -> Home:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return make_home(monkeypatch, tmp_path, scripted, hub)


def test_ctrl_c_pauses_and_the_same_command_goes_on(home: Home, hub: Hub) -> None:
    hub.misbehave("cdn/*", throttle=20_000)
    process = subprocess.Popen(PULL, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    hub.wait_sent(20_000, "cdn/*", timeout=30)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - begun < limit(4)
    last = err.decode().splitlines()[-1]
    assert process.returncode == 130
    assert last.startswith("Paused at ")
    assert last.endswith("are kept. Go on with: slipstream models pull one")
    assert b"Traceback" not in err
    hub.behave()
    before = hub.sent("cdn/*")
    done = subprocess.run(PULL, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    total = sum(len(home.files[name]) for name in home.files if "other" not in name)
    assert hub.sent("cdn/*") - before < total
    assert (home.models / ONE_TARGET).read_bytes() == home.files[ONE_TARGET]


def test_a_terminal_shows_one_line_for_each_file_and_redraws_it(home: Home, hub: Hub) -> None:
    hub.misbehave("cdn/*", throttle=60_000)
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(PULL[0], PULL)
    output = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    _, status = os.waitpid(pid, 0)
    text = output.decode()
    assert os.waitstatus_to_exitcode(status) == 0, text
    assert "one-Q8_0.gguf" in text
    assert "draft-Q8_0.gguf" in text
    assert "\x1b[2A" in text, "two lines, drawn again in their place"
    assert "100 %" in text.split("\x1b[2A")[-1]
    assert "One with draft is here." in text
