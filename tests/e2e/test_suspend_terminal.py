"""ctrl+z and fg, under a shell with job control and without one."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import ANSWERS, TerminalRun, program

SHELL = "bash", "--norc", "--noprofile", "--noediting", "-i"
PROMPT = "shell-prompt$"
BOTTOM = "ctrl+p all"
WORDS = [f"word{n} " for n in range(60)]
NO_SHELL = "Slipstream was not suspended: no shell with job control started it, so nothing could bring it back."


@contextmanager
def shell(home: Path, command: str = f"{sys.executable} {' '.join(ANSWERS)}", **play: Any) -> Iterator[TerminalRun]:
    """The chat, started by a shell with job control."""
    with program(home, play=play, under=SHELL, environment={"PS1": PROMPT}) as run:
        run.sees(PROMPT)
        run.write(command.encode() + b"\n")
        run.sees("type a message")
        yield run


def local_modes(run: TerminalRun) -> int:
    return int(termios.tcgetattr(run.master)[3]) & (termios.ICANON | termios.ECHO | termios.ISIG)


def leave(run: TerminalRun, suspend: Callable[[], None]) -> None:
    """Suspend, and use the shell."""
    already = run.output.count(PROMPT.encode())
    suspend()
    run.until(lambda: run.output.count(PROMPT.encode()) > already, "the shell's prompt")
    assert run.restored() == []
    assert local_modes(run) == termios.ICANON | termios.ECHO | termios.ISIG
    run.screen.reset()
    run.write(b"echo here-$((40 + 2))\n")
    run.sees("here-42")
    run.screen.reset()  # the other screen was cleared when it was left; pyte has only one


def poked(run: TerminalRun, condition: Callable[[], bool], what: str) -> None:
    """Wait, with enter keys in the shell: it tells news of its jobs before a prompt only."""

    def holds() -> bool:
        if not condition():
            run.write(b"\n")
        return condition()

    run.until(holds, what)


def come_back(run: TerminalRun) -> None:
    run.write(b"fg\n")
    run.sees(BOTTOM)
    assert "?1049" in run.restored()
    run.until(lambda: local_modes(run) == 0, "keys one by one")


def by_key(run: TerminalRun) -> Callable[[], None]:
    return lambda: run.write(b"\x1a")


def by_signal(number: signal.Signals) -> Callable[[TerminalRun], Callable[[], None]]:
    return lambda run: lambda: os.kill(run.children()[0], number)


@pytest.mark.parametrize("how", [by_key, by_signal(signal.SIGTSTP)])
def test_suspended_and_back_everything_is_there_again(
    tmp_path: Path, how: Callable[[TerminalRun], Callable[[], None]]
) -> None:
    with shell(tmp_path, pieces=["Hello", " there", ", you", "."]) as run:
        run.say("hi")
        run.sees("Hello there, you.")
        for _again in range(2):
            run.write(b"half a ")
            run.sees("half a ")
            leave(run, how(run))
            before = len(run.output)
            come_back(run)
            run.sees("Hello there, you.")
            run.sees("half a ")
            run.pump(0.3)
            assert run.output[before:].count(b"?1049h") == 1, "once, or what is typed meanwhile is lost"
            run.write(b"thought")
            run.sees("half a thought")
            run.write(b"\x1f\x1f\x15")
        run.write(b"\x11")
        run.until(lambda: run.output.rstrip().endswith(PROMPT.encode()), "the end")
        assert run.restored() == []
        assert b"Traceback" not in run.output


def test_an_answer_that_streams_loses_nothing(tmp_path: Path) -> None:
    with shell(tmp_path, pieces=WORDS, pause=0.03) as run:
        run.say("go on for long")
        run.sees("word3 ")
        leave(run, by_key(run))
        come_back(run)
        run.sees("word59")
        run.sees("tok/s")
        shown = " ".join(run.shown.split())
        assert "".join(WORDS).strip() in shown


def test_a_terminal_of_another_size_is_filled(tmp_path: Path) -> None:
    with shell(tmp_path, pieces=["Hello", " there", ", you", "."]) as run:
        run.say("hi")
        run.sees("Hello there, you.")
        leave(run, by_key(run))
        fcntl.ioctl(run.master, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 70, 0, 0))
        run.screen.resize(20, 70)
        come_back(run)
        run.sees("Hello there, you.")
        assert BOTTOM in run.screen.display[-1]


def test_in_the_background_it_waits_for_the_terminal(tmp_path: Path) -> None:
    with shell(tmp_path) as run:
        run.write(b"kept")
        run.sees("kept")
        leave(run, by_key(run))
        already = run.output.count(b"Stopped")
        run.write(b"bg\n")
        poked(run, lambda: run.output.count(b"Stopped") > already, "stopped again")
        assert run.restored() == []
        run.screen.reset()
        come_back(run)
        run.sees("kept")


def test_a_job_that_waits_can_be_ended(tmp_path: Path) -> None:
    with shell(tmp_path) as run:
        leave(run, by_key(run))
        run.write(b"kill %1\n")
        poked(run, lambda: not run.children(), "the end")
        assert run.restored() == []
        assert local_modes(run) == termios.ICANON | termios.ECHO | termios.ISIG


def test_after_a_stop_that_nobody_hears_coming_the_screen_is_whole(tmp_path: Path) -> None:
    with shell(tmp_path) as run:
        run.write(b"kept")
        run.sees("kept")
        already = run.output.count(PROMPT.encode())
        by_signal(signal.SIGSTOP)(run)()
        run.until(lambda: run.output.count(PROMPT.encode()) > already, "the shell's prompt")
        run.screen.reset()
        come_back(run)
        run.sees("kept")
        run.write(b" still")
        run.sees("kept still")


def test_what_started_it_in_a_script_is_suspended_too(tmp_path: Path) -> None:
    with shell(tmp_path, f"sh -c '{sys.executable} {' '.join(ANSWERS)}; echo ended'") as run:
        run.write(b"kept")
        run.sees("kept")
        leave(run, by_key(run))
        come_back(run)
        run.sees("kept")


@pytest.mark.parametrize("outside", [False, True])
def test_where_nobody_could_bring_it_back_it_stays_and_says_so(tmp_path: Path, outside: bool) -> None:
    with program(tmp_path, size=(120, 30)) as run:
        run.sees("type a message")
        run.write(b"kept")
        run.sees("kept")
        run.screen.reset()
        if outside:
            run.signal(signal.SIGTSTP)
        else:
            run.write(b"\x1a")
        run.sees(NO_SHELL)
        run.sees(BOTTOM)
        run.sees("kept")
        run.write(b" still")
        run.sees("kept still")
        run.write(b"\x11")
        assert run.wait() == 0


def test_where_stopping_is_ignored_it_stays_and_says_so(tmp_path: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGTSTP, signal.SIG_IGN)"
    with program(tmp_path, size=(120, 30), before=ignoring) as run:
        run.sees("type a message")
        before = len(run.output)
        run.write(b"\x1a")
        run.sees(NO_SHELL)
        assert b"?1049l" not in run.output[before:], "the screen was never left"
