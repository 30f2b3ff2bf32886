"""What is said on stderr after the terminal is restored."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.terminal import program


def test_what_was_not_saved_is_said_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "chats.sqlite").mkdir()
    with program(tmp_path, play={"pieces": ["Hello."]}) as run:
        run.until(lambda: "is a folder and not a file" in " ".join(run.shown.split()), "the reason")
        run.say("hi there")
        run.sees("tok/s")
        run.sees("not saved")
        run.write(b"\x11")
        assert run.wait() == 0
        after = run.output.rpartition(b"\x1b[?1049l")[2].decode()
        assert 'Not saved: 2 messages of the chat "hi there".' in after
        assert f"{tmp_path / 'chats.sqlite'} is a folder and not a file." in after
        copies = [tmp_path / "exports" / f"hi-there.{ending}" for ending in ("md", "json")]
        assert f"A copy of the whole chat is in {copies[0]} and {copies[1]}." in after
        assert "Hello." in copies[0].read_text()
        assert "goes on in memory" not in after


def test_nothing_is_said_when_all_is_saved(tmp_path: Path) -> None:
    with program(tmp_path, play={"pieces": ["Hello."]}) as run:
        run.sees("type a message")
        run.say("hi there")
        run.sees("tok/s")
        run.write(b"\x11")
        assert run.wait() == 0
        assert b"ot saved" not in run.output
