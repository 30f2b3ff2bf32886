"""The Models screen in a real terminal, with a hub on loopback: typing during a download, quitting, going on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.terminal import TerminalRun, program
from tests.fixtures.homes import ONE_TARGET, SHARED_DRAFT, Home, make_home
from tests.fixtures.hub import Hub
from tests.fixtures.pace import limit
from tests.fixtures.processes import alive
from tests.fixtures.scripted import Script

CTRL_L, CTRL_Q, ENTER, ESC = b"\x0c", b"\x11", b"\r", b"\x1b"
ECHO = 0.2
"""Seconds that a typed letter may take to be seen."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Script], hub: Hub) -> Home:
    return make_home(monkeypatch, tmp_path, scripted, hub)


def fetch(run: TerminalRun, name: str) -> None:
    """Open the screen, find the pair, and agree to its plan."""
    run.sees("type a message")
    run.write(CTRL_L)
    run.sees("not here")
    run.write(b"/" + name.encode())
    run.sees(f"/ {name}")
    run.write(ENTER)
    run.sees("enter get")
    run.write(ENTER)
    run.sees("enter yes")
    run.write(ENTER)


def test_the_chat_can_be_used_while_a_download_goes_on(home: Home, hub: Hub) -> None:
    hub.misbehave("cdn/*", throttle=8_000)
    with program(home.folder, size=(120, 40)) as run:
        fetch(run, "One with draft")
        run.sees("kB/s")
        run.sees("p pause")
        run.write(ESC)
        run.until(lambda: "type a message" in run.shown and "↓ " in run.shown, "the sign in the header")
        times = []
        for count in range(1, 7):
            run.write(b"typing"[count - 1 : count])
            times.append(run.sees(f"❯ {'typing'[:count]}"))
        assert sorted(times)[len(times) // 2] < limit(ECHO), times
        run.write(ENTER)
        run.sees("Hello there.")
        engines = run.children()
        begun = time.monotonic()
        run.write(CTRL_Q)
        assert run.wait() == 0
        assert time.monotonic() - begun < limit(3)
        assert run.restored() == []
        assert not any(alive(engine) for engine in engines)
        assert b"Traceback" not in run.output
        assert not re.search(rb"\d+%\|", run.output), "no progress bar of a library"
    assert any(name.endswith(".part") for name in home.names())
    hub.behave()
    with program(home.folder, size=(120, 40)) as run:
        run.sees("type a message")
        run.write(CTRL_L)
        run.sees("partly here")
        run.write(b"/One with" + ENTER)
        run.sees("enter get")
        run.write(ENTER)
        run.sees("% here")
        run.write(ENTER)
        run.sees("is here; enter uses it.")
        run.write(ENTER)
        run.sees("One with draft answers from now on; the chat stays.")
        run.sees("typing")  # what was said before
        run.write(CTRL_Q)
        assert run.wait() == 0
    for name in (ONE_TARGET, SHARED_DRAFT):
        assert (home.models / name).read_bytes() == home.files[name]
