"""Ctrl+C in ``bench`` and ``compare``: one rule for the exit code, and what was measured stays."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from app.commands.bench import NOTHING
from app.commands.errors import CANCELLED, FAILED
from engine.protocol import ErrorCode, Failed, GenerateSettings
from tests.unit.compare.conftest import Benched, kept
from tests.unit.compare.engines import Event, PaperEngine


class Interrupted(PaperEngine):
    """Ctrl+C comes in its answer number ``when``; the first two are warm-ups."""

    def __init__(self, when: int, *, again: bool = False) -> None:
        """``again``: another one follows at once."""
        super().__init__()
        self.when, self.again = when, again
        self.ended = asyncio.Event()

    async def generate(self, settings: GenerateSettings) -> AsyncGenerator[Event, None]:
        if len(self.asked) + 1 == self.when:
            os.kill(os.getpid(), signal.SIGINT)
            await self.ended.wait()
            self.end = "cancelled"
        async with aclosing(super().generate(settings)) as events:
            async for event in events:
                yield event

    async def cancel(self) -> None:
        if self.again:
            self.again = False
            os.kill(os.getpid(), signal.SIGINT)
        else:
            self.ended.set()


@pytest.mark.parametrize("when", [1, 3, 6])
def test_whatever_was_done_by_then_ctrl_c_is_130(
    benched: Benched, compared: Benched, when: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benched(Interrupted(when)) == CANCELLED
    assert compared(Interrupted(when)) == CANCELLED
    assert capsys.readouterr().err.count("Slipstream") == 0


def test_a_stopped_bench_keeps_and_reports_what_is_whole(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benched(Interrupted(6))
    said = capsys.readouterr()
    words = (
        "Stopped after 3 of 8 runs (2 runs of each way wanted). The figures leave out 1 run that not every way has "
        "made."
    )
    assert words in said.out
    (found,) = kept(home)
    assert found["stopped"] is True
    assert benched(Interrupted(6), as_csv=True) == CANCELLED
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("when", [1, 3])
def test_where_nothing_was_measured_nothing_is_kept(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str], when: int
) -> None:
    benched(Interrupted(when))
    said = capsys.readouterr()
    assert (said.out, said.err, kept(home)) == ("", NOTHING + "\n", [])
    benched(Interrupted(when), as_json=True)
    assert json.loads(capsys.readouterr().out)["stopped"] is True


@pytest.mark.parametrize(("when", "runs"), [(1, 0), (7, 4)])
def test_a_second_ctrl_c_keeps_what_was_measured(
    benched: Benched,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    when: int,
    runs: int,
) -> None:
    left: list[tuple[int, list[Any], str]] = []
    engine = Interrupted(when, again=True)

    def leave(code: int) -> None:
        """As if the process were gone: what is there at this moment counts."""
        left.append((code, kept(home), capsys.readouterr().err))
        engine.ended.set()

    monkeypatch.setattr(os, "_exit", leave)
    benched(engine)
    ((code, files, said),) = left
    assert code == CANCELLED
    if runs:
        assert [run["finish_reason"] for run in files[0]["runs"]].count("length") == runs
        assert said.startswith("kept in ")
    else:
        assert (files, said) == ([], NOTHING + "\n")


@pytest.mark.parametrize("command", ["benched", "compared"])
def test_a_ctrl_c_while_the_engine_ends_takes_nothing_along(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    class Slow(PaperEngine):
        async def close(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        request.getfixturevalue(command)(Slow())
    said = capsys.readouterr()
    assert "Identical" in said.out
    assert ("kept in " in said.err) == (command == "benched")


def test_a_comparison_that_failed_reports_what_is_whole(compared: Benched, capsys: pytest.CaptureFixture[str]) -> None:
    engine = PaperEngine()
    stopped = Failed(id=1, code=ErrorCode.ENGINE_STOPPED, message="The engine stopped.")
    engine.failing = lambda settings: stopped if len(engine.asked) > 5 else None
    assert compared(engine) == FAILED
    said = capsys.readouterr()
    assert "Ended by a failure after 3 runs of 4: 1 run of each way." in said.out
    assert said.err.splitlines()[-1] == "The engine stopped."
    engine = PaperEngine()
    engine.failing = lambda settings: stopped
    assert compared(engine) == FAILED
    assert capsys.readouterr().out == ""
