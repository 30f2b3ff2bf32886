"""``slipstream bench`` with an engine of paper: what was measured is kept, whatever ends it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.commands import bench as command
from app.commands.bench_file import EVERY, BenchFile
from app.commands.errors import FAILED
from app.compare.memory import PeakMemory
from app.compare.runs import Run
from engine.protocol import ErrorCode, Failed, GenerateSettings, ModelFile
from tests.unit.compare.conftest import LOAD, Benched, kept
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_memory import process


def fails_on(number: int) -> PaperEngine:
    """Two warm-ups, then so many runs, then the engine is gone."""
    engine = PaperEngine()

    def failing(settings: GenerateSettings) -> Failed | None:
        gone = len(engine.asked) > 2 + number
        return Failed(id=1, code=ErrorCode.ENGINE_STOPPED, message="The engine stopped.") if gone else None

    engine.failing = failing
    return engine


def test_a_failure_keeps_and_shows_what_was_measured(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benched(fails_on(5)) == FAILED
    said = capsys.readouterr()
    assert "Identical answers by every way on all 2 prompts." in said.out
    assert said.err.splitlines()[-1] == "The engine stopped."
    (found,) = kept(home)
    assert [run["finish_reason"] for run in found["runs"]].count("length") == 5
    assert "Ended by a failure after 5 of 8 runs (2 runs of each way wanted)." in said.out
    assert (found["failure"], found["stopped"], found["runs_wanted"]) == ("The engine stopped.", False, 8)


def test_a_fault_of_our_own_keeps_it_too(benched: Benched, home: Path) -> None:
    engine = PaperEngine()

    def broken(settings: GenerateSettings) -> Failed | None:
        if len(engine.asked) > 4:
            raise ZeroDivisionError
        return None

    engine.failing = broken
    with pytest.raises(ZeroDivisionError):
        benched(engine)
    assert engine.closed
    assert [run["finish_reason"] for run in kept(home)[0]["runs"]].count("length") == 2


def test_a_failure_before_the_first_run_keeps_nothing(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benched(fails_on(0)) == FAILED
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "The engine stopped.\n")
    assert not kept(home)


@pytest.mark.parametrize("form", ["as_csv", "as_json", "as_markdown", "text"])
def test_a_prompt_that_is_left_out_is_told_in_every_form(
    benched: Benched, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert benched(PaperEngine(), ("one", "word " * 9000), **({} if form == "text" else {form: True})) == 0
    said = capsys.readouterr()
    words = "mine.jsonl, line 2 is left out: its prompt is 9,000 tokens long, and the context of 8,192 has room for"
    assert words in (said.err if form == "as_csv" else said.out)
    assert (said.out + said.err).count("left out: ") == (2 if form == "as_json" else 1)


REFUSED = "auto: draft refused: the vocabulary differs at id 5; lookup alone proposes"


@pytest.mark.parametrize("form", ["as_csv", "as_json", "as_markdown", "text"])
def test_a_draft_that_is_refused_is_told_once_in_every_form(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    engine = PaperEngine(refused="the vocabulary differs at id 5")
    assert benched(engine, ways="off,auto", **({} if form == "text" else {form: True})) == 0
    said = capsys.readouterr()
    assert (said.err if form in ("as_csv", "as_json") else said.out).count(REFUSED) == 1
    if form == "as_json":
        assert json.loads(said.out)["notes"].count(REFUSED) == 1
    assert kept(home)[0]["notes"].count(REFUSED) == 1


def test_what_is_said_of_peaks_stands_beside_them_only(
    benched: Benched,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the file, which has them; the summary shows none."""
    process(tmp_path, rss=300_000, mark=300_000)
    monkeypatch.setattr("app.compare.conduct.PeakMemory", partial(PeakMemory, proc=tmp_path))
    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    assert benched(PaperEngine(process=42), load=load) == 0
    said = capsys.readouterr()
    assert "peak memory" not in said.out + said.err
    for way in ("off", "lookup"):
        words = f"The peak memory of {way} has the draft in it, which stays loaded."
        assert kept(home)[0]["notes"].count(words) == 1


def test_the_file_is_written_while_it_goes_on(home: Path) -> None:
    texts, now = iter("abc"), [0.0]
    file = BenchFile(lambda: next(texts), lambda: now[0])
    file.now_and_then()
    assert file.outcome == ""
    now[0] = EVERY
    file.now_and_then()
    file.now_and_then()
    (written,) = (home / "bench").iterdir()
    assert (written.read_text(), file.outcome) == ("a", f"kept in {written}")
    file.write()
    assert [each.read_text() for each in (home / "bench").iterdir()] == ["b"]
    other = BenchFile(lambda: "other")
    other.write()
    assert sorted(each.read_text() for each in (home / "bench").iterdir()) == ["b", "other"]


def test_a_run_in_the_middle_writes_nothing(benched: Benched, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where a run begins: to write beside one would be measured."""
    monkeypatch.setattr("app.commands.bench_file.EVERY", 0.0)
    written: list[int] = []
    shown: list[Run] = []
    before = command._Benching._show
    write = BenchFile.write

    def show(self: Any, task: Any, run: Run) -> None:
        shown.append(run)
        before(self, task, run)

    def count(self: BenchFile) -> None:
        written.append(len(shown[-1].curve))
        write(self)

    monkeypatch.setattr(command._Benching, "_show", show)
    monkeypatch.setattr(BenchFile, "write", count)
    assert benched(PaperEngine()) == 0
    assert written[:-1] == [0] * 7


def test_a_folder_that_cannot_be_written_to_is_told_once(
    benched: Benched, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "bench").write_text("a file where the folder should be")
    assert benched(PaperEngine()) == 0
    assert capsys.readouterr().err.count("The results are not kept: ") == 1
