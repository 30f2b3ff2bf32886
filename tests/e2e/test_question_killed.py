"""The app is killed while it asks what to do about a full context."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.e2e.terminal import program

OUTGROWN = {"tokens": 9000, "context": 8192, "dropped": 2, "left": 900}


def test_kill_nine_while_the_question_stands_keeps_the_message(tmp_path: Path) -> None:
    with program(tmp_path, play={"outgrown": OUTGROWN}) as run:
        run.sees("type a message")
        run.say("a message that does not fit")
        run.sees("do not fit into the context")
        run.signal(signal.SIGKILL)
        run.wait()
    with program(tmp_path, play={"pieces": ["Fine."]}) as run:
        run.sees("a message that does not fit")
        run.write(b"\r")
        run.sees("Fine.")
