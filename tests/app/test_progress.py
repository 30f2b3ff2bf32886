"""The passing words on stderr."""

from __future__ import annotations

import io
import sys

import pytest

from app.commands.stdout import Progress


def test_where_nobody_looks_a_line_is_said_now_and_then_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    sparse, silent = Progress(sparse=True, clock=lambda: now[0]), Progress(clock=lambda: now[0])
    for second in (1.0, 10.0, 12.0, 19.0, 20.0):
        now[0] = second
        sparse.show(f"after {second:.0f} s")
        silent.show("nothing")
    sparse.clear()
    assert capsys.readouterr().err == "after 10 s\nafter 20 s\n"


def test_a_terminal_has_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress(sparse=True)
    for words in ("one", "one", "two"):
        progress.show(words)
    progress.clear()
    assert sys.stderr.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\r\x1b[K"  # type: ignore[attr-defined]
