"""Runs take turns from an empty history, and only whole ones count."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import pytest

from app.compare.conduct import WARM_UP_TOKENS, Comparison, conduct
from app.compare.memory import PeakMemory
from app.compare.neighbours import Neighbours, Snapshot
from app.compare.report import busy_words, run_json
from app.compare.runs import Run, RunFailed
from app.compare.verdict import table
from app.compare.ways import Way
from engine.processors import busy_seconds
from engine.protocol import ErrorCode, Failed, GenerateSettings, Loaded, Loading, LoadSettings, ModelFile
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_memory import process

LOAD = LoadSettings(target=ModelFile(path="/m/target.gguf"))
WANTED = GenerateSettings(messages=(), prompt_ids=(1, 2), seed=7, max_tokens=64)


def compared(engine: PaperEngine, *ways: Way, repetitions: int = 3, load: LoadSettings = LOAD) -> Comparison:
    return asyncio.run(conduct(engine, Comparison(ways, WANTED, load, repetitions)))


def test_each_way_is_warmed_up_and_then_they_take_turns() -> None:
    engine = PaperEngine()
    comparison = compared(engine, Way("off"), Way("auto"))
    said = [(settings.speculation, settings.max_tokens) for settings in engine.asked]
    assert said[:2] == [("off", WARM_UP_TOKENS), ("auto", WARM_UP_TOKENS)]
    assert [mode for mode, _ in said[2:]] == ["off", "auto", "auto", "off", "auto", "off"]
    assert {limit for _, limit in said[2:]} == {64}
    assert comparison.rounds == 3
    assert comparison.done == 1.0


def test_every_run_begins_from_nothing_with_the_same_seed() -> None:
    engine = PaperEngine()
    compared(engine, Way("off"), Way("lookup", 3))
    assert all(settings.fresh and settings.seed == 7 and settings.prompt_ids == (1, 2) for settings in engine.asked)


def test_the_target_is_loaded_once_and_other_drafts_in_its_place() -> None:
    engine = PaperEngine()
    compared(engine, Way("off"), Way("auto"))
    assert len(engine.loaded) == 1
    engine = PaperEngine()
    compared(engine, Way("off"), Way("draft", None, "/m/d.gguf"), repetitions=1)
    assert [load.draft.path if load.draft else None for load in engine.loaded] == [None, "/m/d.gguf"] * 2


def test_a_stop_keeps_what_is_whole() -> None:
    comparison = Comparison((Way("off"), Way("auto")), WANTED, LOAD, 3)

    def stop_in_the_third(run: Run) -> None:
        if len(comparison.runs) == 3:
            comparison.stopped = True

    asyncio.run(conduct(PaperEngine(), comparison, changed=stop_in_the_third))
    assert [run.way.label for run in comparison.runs] == ["off", "auto", "auto"]
    assert comparison.rounds == 1


def test_a_cancelled_run_ends_it_and_does_not_count() -> None:
    comparison = compared(PaperEngine(end="cancelled"), Way("off"), Way("auto"))
    assert comparison.stopped
    assert (len(comparison.runs), comparison.rounds) == (1, 0)


def test_a_draft_that_is_refused_is_never_run_under_its_name() -> None:
    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    with pytest.raises(RunFailed, match="draft is not possible here: the vocabulary differs at id 5"):
        compared(PaperEngine(refused="the vocabulary differs at id 5"), Way("off"), Way("draft"), load=load)
    comparison = compared(PaperEngine(refused="the vocabulary differs at id 5"), Way("off"), Way("auto"), load=load)
    assert comparison.notes == ["auto: draft refused: the vocabulary differs at id 5; lookup alone proposes"]


def test_a_stop_while_the_pair_is_loaded_is_no_failure() -> None:
    class Stopped(PaperEngine):
        async def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
            yield Failed(id=1, code=ErrorCode.CANCELLED, message="Loading was stopped.")

    engine = Stopped()
    comparison = compared(engine, Way("off"), Way("auto"))
    assert comparison.stopped
    assert (comparison.runs, engine.asked) == ([], [])


def test_a_planted_neighbour_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks at /proc the machine has worked more than we have: every run says so, and the report."""
    seconds = itertools.count(100, 3)  # three seconds of work by others, from look to look
    moments = itertools.count(0, 2)

    def look(self: Neighbours, pids: object) -> Snapshot:
        (tmp_path / "stat").write_text(f"cpu  {next(seconds) * 100} 0 0 900 7 0 0 0 0 0\n")
        return Snapshot(float(next(moments)), busy_seconds(tmp_path), 0.0)

    monkeypatch.setattr(Neighbours, "look", look)
    comparison = compared(PaperEngine(), Way("off"), Way("auto"))
    assert all(run.busy and run.foreign == pytest.approx(1.5) for run in comparison.runs)
    (words,) = busy_words(comparison.runs)
    assert words.startswith("Other processes used 1.5 cores during 6 of 6 runs; measure again")


def test_a_length_that_was_cut_is_told_once() -> None:
    engine = PaperEngine(notes=("drafts of 16 were asked for; exact mode allows 7",))
    comparison = compared(engine, Way("off"), Way("lookup", 16))
    assert comparison.notes == ["lookup:16: drafts of 16 were asked for; exact mode allows 7"]


def test_the_most_memory_of_a_way_is_measured_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.compare.conduct.PeakMemory", partial(PeakMemory, proc=tmp_path))
    process(tmp_path, rss=300_000, mark=300_000)
    engine = PaperEngine()
    engine.process = 42
    comparison = compared(engine, Way("off"), Way("auto"))
    rows = {row.name: row.cells for row in table(comparison, (None, None))}
    assert rows["memory, peak"] == ("0.31 GB", "0.31 GB")
    assert rows["memory, est."] == ("–", "–")
    assert run_json(comparison.runs[0])["peak_memory"] == {"bytes": 300_000 * 1024, "sampled": False}


@pytest.mark.parametrize(("refused", "notes"), [(None, 1), ("vocabulary differs", 0)])
def test_memory_is_said_to_have_the_draft_in_it_only_where_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str | None, notes: int
) -> None:
    monkeypatch.setattr("app.compare.conduct.PeakMemory", partial(PeakMemory, proc=tmp_path))
    process(tmp_path, rss=300_000, mark=300_000)
    engine = PaperEngine(refused=refused, process=42)
    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    comparison = compared(engine, Way("off"), Way("lookup"), load=load)
    said = [
        note for note in comparison.notes if note == "The peak memory of off has the draft in it, which stays loaded."
    ]
    assert len(said) == notes
