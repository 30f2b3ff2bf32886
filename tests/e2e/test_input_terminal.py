"""Bytes that a terminal sends: odd ones, pastes, mouse reports, escape with text behind it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from app.clean import clean
from tests.e2e.terminal import SLOW, in_mid_answer, program


def test_odd_input_bytes_are_survived(tmp_path: Path) -> None:
    with program(tmp_path) as run:
        run.sees("type a message")
        for odd in (
            b"\x1b[M\xf0\xf0\xf0",
            b"\xe6\xad",
            b"\xff\xfe",
            b"\x1b[99999999999;1u",
            b"\x1b[<1;2",
            b"\x1b[200~\xc3",
        ):
            run.write(odd)
            run.pump(0.3)
        run.write(b"\x1b[201~")
        run.pump(0.3)
        run.write(b"alive")
        run.sees("alive")
        run.write(b"\x11")
        assert run.wait() == 0
        assert b"Traceback" not in run.output


def test_bracketed_paste_is_one_text(tmp_path: Path) -> None:
    record = tmp_path / "requests"
    with program(tmp_path, play={"record": str(record)}) as run:
        run.sees("type a message")
        lines = [f"line {n}" for n in range(20)]
        run.write(b"\x1b[200~" + "\r\n".join(lines).encode() + b"\x1b[201~")
        run.sees("line 19")
        assert b"generate" not in record.read_bytes()
        run.write(b"\r")
        run.sees("Hello there.")
        assert "\\n".join(lines) in record.read_text()
        run.write(b"\x11")
        run.wait()


@pytest.mark.parametrize(
    "said", [" first line\x1b[2Jsecond\nthird ", "x\x1bq \x11 y", "a\x1b]52;c;aGFja2Vk\x07 \x9b2J \u202eend"]
)
def test_a_paste_with_escape_codes_is_one_text_and_sent_as_it_was_said(tmp_path: Path, said: str) -> None:
    record = tmp_path / "requests"
    with program(tmp_path, play={"record": str(record)}) as run:
        run.sees("type a message")
        before = len(run.output)
        pasted = b"\x1b[200~" + said.replace("\n", "\r").encode() + b"\x1b[201~"
        for cut in range(0, len(pasted), 5):
            run.write(pasted[cut : cut + 5])
            run.pump(0.01)
        run.sees(clean(said).split("\n")[-1].strip())
        run.pump(0.5)
        assert b"generate" not in record.read_bytes()
        assert not run.ended()
        run.write(b"\r")
        run.sees("Hello there.")
        (request,) = [line for line in record.read_text().splitlines() if '"generate"' in line]
        assert json.loads(request)["settings"]["messages"][-1]["content"] == said
        new = run.output[before:]
        assert not any(code in new for code in (b"\x1b[2J", b"\x1b]52", b"\xc2\x9b", "\u202e".encode()))
        run.write(b"\x11")
        run.wait()
    rows = sqlite3.connect(tmp_path / "chats.sqlite").execute("select * from messages").fetchall()
    assert any(said in row for row in rows)


def test_a_paste_that_never_ends_does_not_block_the_keys(tmp_path: Path) -> None:
    with program(tmp_path) as run:
        run.sees("type a message")
        run.write(b"\x1b[200~half a paste\rsecond")
        run.sees("second")
        run.write(b"\x11")
        assert run.wait() == 0


def test_escape_with_text_right_behind_it_stops_the_answer(tmp_path: Path) -> None:
    with program(tmp_path, play=SLOW) as run:
        in_mid_answer(run)
        run.write(b"\x1bHello")
        run.sees("stopped")
        run.sees("❯ Hello")
        assert "^" not in run.shown
        run.write(b"\x1b\rthere")
        run.sees("there")
        assert "❯ Hello" in run.shown
        run.write(b"\x11")
        assert run.wait() == 0


def test_mouse_reports_of_the_old_style_leave_nothing(tmp_path: Path) -> None:
    with program(tmp_path) as run:
        run.sees("type a message")
        run.write(b"\x1b[M\xf0\xf0\xf0\x1b[M \xc3\xa9\x1b[M\xff\xfe\xfdok")
        run.sees("❯ ok ")
        run.write("می\u200cخواهم\u00a0".encode() + b".\r")
        run.sees("Hello there.")
        run.write(b"\x11")
        assert run.wait() == 0
    rows = sqlite3.connect(tmp_path / "chats.sqlite").execute("select * from messages").fetchall()
    assert any("okمی\u200cخواهم\u00a0." in row for row in rows)


@pytest.mark.parametrize("bracketed", [True, False])
def test_a_megabyte_pasted_is_folded_and_typing_goes_on(tmp_path: Path, bracketed: bool) -> None:
    text = "\n".join(f"{n:06} some more words of a large text that goes on" for n in range(20_000))
    with program(tmp_path) as run:
        run.sees("type a message")
        marks = (b"\x1b[200~", b"\x1b[201~") if bracketed else (b"", b"")
        data = marks[0] + text.replace("\n", "\r").encode() + marks[1]
        for cut in range(0, len(data), 4000):
            run.write(data[cut : cut + 4000])
            run.pump(0.001)
        run.sees(f"[pasted {len(text):,} characters, 20,000 lines #1]")
        run.write(b"typed")
        assert run.sees("typed") < 2, "at once on a free machine"
        run.write(b"\x11")
        assert run.wait() == 0


def test_lines_pasted_without_brackets_are_not_sent_one_by_one(tmp_path: Path) -> None:
    record = tmp_path / "requests"
    with program(tmp_path, play={"record": str(record)}) as run:
        run.sees("type a message")
        run.write(b"first\rsecond\rthird\r")
        run.sees("third")
        run.pump(0.5)
        assert b"generate" not in record.read_bytes()
        run.write(b"\x11")
        run.wait()
