"""Many prompts: turns, sums by category, and every form of the results."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.compare.bench import Bench, run_bench, summary
from app.compare.bench_report import COLUMNS, as_csv, as_json, as_markdown, as_text
from app.compare.runs import Run, RunFailed
from app.compare.suite import BadSuite, Task, bundled, choose, own
from app.compare.ways import Way
from engine.protocol import ErrorCode, GenerateSettings, Message
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_conduct import LOAD, WANTED

TASKS = [
    Task(name, category, (Message(role="user", content=name),))
    for name, category in (("a", "code"), ("b", "code"), ("c", "story"))
]

PLAIN = WANTED.model_copy(update={"prompt_ids": ()})


def measured(seconds: dict[str, float], repetitions: int = 2) -> tuple[Bench, PaperEngine]:
    """``seconds``: prompt -> what ``auto`` takes; ``off`` always takes 2."""

    def time_of(settings: GenerateSettings, nth: int) -> float:
        return 2.0 if settings.speculation == "off" else seconds[settings.messages[-1].content]

    engine = PaperEngine(time_of)
    bench = Bench(TASKS, (Way("off"), Way("auto")), PLAIN, LOAD, repetitions)
    return asyncio.run(run_bench(engine, bench)), engine


def test_the_bundled_prompts_have_every_kind_of_work_several_times() -> None:
    tasks = bundled()
    categories = {task.category for task in tasks}
    assert categories == {"chat", "code", "edit", "summarize", "quote", "translate", "math", "story"}
    assert all(sum(task.category == category for task in tasks) >= 3 for category in categories)
    assert len({task.id for task in tasks}) == len(tasks)


def test_ways_take_turns_from_prompt_to_prompt_and_from_round_to_round() -> None:
    _, engine = measured({"a": 1.0, "b": 1.0, "c": 1.0})
    asked = [(settings.messages[-1].content, settings.speculation) for settings in engine.asked[2:]]
    assert asked[:6] == [("a", "off"), ("a", "auto"), ("b", "auto"), ("b", "off"), ("c", "off"), ("c", "auto")]
    assert asked[6:8] == [("a", "auto"), ("a", "off")]
    assert len(asked) == 12


def test_categories_weigh_the_same_and_the_first_way_is_one() -> None:
    bench, _ = measured({"a": 1.0, "b": 1.0, "c": 2.0})
    lines = {(line.category, line.way): line for line in summary(bench)}
    assert lines["code", "off"].ratio is None
    code, story, everything = (lines[name, "auto"].ratio for name in ("code", "story", "all"))
    assert code is not None
    assert story is not None
    assert everything is not None
    assert (code.value, story.value) == (2.0, 1.0)
    assert everything.value == pytest.approx(2**0.5)
    assert lines["code", "auto"].runs == 4
    assert lines["code", "auto"].acceptance == pytest.approx(2 / 3)


def test_every_form_has_the_same_runs() -> None:
    bench, engine = measured({"a": 1.0, "b": 1.0, "c": 2.0})
    found = as_json(bench, engine.pair, None)
    assert len(found["runs"]) == 12
    assert found["identical"] == {"prompts": 3, "compared": 3}
    assert found["runs"][0]["receipt"]["seed"] == 7
    rows = list(csv.DictReader(io.StringIO(as_csv(bench))))
    assert len(rows) == 12
    assert rows[0]["total_seconds"] == "2.0"
    assert "| code | auto | 2.00 [2.00, 2.00] |" in as_markdown(bench, engine.pair)
    legend = (
        "factor: times faster than off on whole answers, geometric mean over pairs of alternating runs, with its "
        "95 % interval"
    )
    text = as_text(bench, engine.pair)
    assert legend in text.splitlines()
    assert legend in as_markdown(bench, engine.pair).splitlines()
    assert "Identical answers by every way on all 3 prompts." in text
    assert "3 prompts, 2 runs of each way, 2 threads" in text


def test_the_order_and_the_time_of_every_run_are_stored() -> None:
    bench, engine = measured({"a": 1.0, "b": 1.0, "c": 2.0})
    stored = as_json(bench, engine.pair, None)["runs"]
    asked = [(settings.messages[-1].content, settings.speculation) for settings in engine.asked[2:]]
    assert [(run["task"], run["way"]) for run in stored] == asked
    assert [run["number"] for run in stored] == [*range(1, 13)]
    times = [datetime.fromisoformat(run["started"]) for run in stored]
    assert {time.utcoffset() for time in times} == {timedelta(0)}
    rows = list(csv.DictReader(io.StringIO(as_csv(bench))))
    named = [(row["number"], row["started"], row["task"], row["way"]) for row in rows]
    assert named == [(str(run["number"]), run["started"], run["task"], run["way"]) for run in stored]


def test_one_prompt_once_has_no_interval_and_no_plural() -> None:
    engine = PaperEngine()
    bench = Bench(TASKS[:1], (Way("off"), Way("auto")), WANTED, LOAD, 1)
    asyncio.run(run_bench(engine, bench))
    text = as_text(bench, engine.pair)
    assert "1 prompt, 1 run of each way, 2 threads" in text
    assert "Identical answers by every way on the one prompt." in text
    assert "[" not in text


def test_a_stop_leaves_what_is_whole() -> None:
    engine = PaperEngine()
    bench = Bench(TASKS, (Way("off"), Way("auto")), WANTED, LOAD, 2)

    def stop(task: Task, run: object) -> None:
        if task.id == "b":
            for comparison in bench.comparisons:
                comparison.stopped = True

    asyncio.run(run_bench(engine, bench, changed=stop))
    assert bench.stopped
    assert bench.runs_made == 3


def stopped_before(number: int, tasks: list[Task] = TASKS, repetitions: int = 2) -> tuple[Bench, PaperEngine]:
    """As Ctrl+C does it: run ``number`` is the first that comes to no end; 0: stopped while warming up."""
    engine, begun = PaperEngine(), list[Run]()
    bench = Bench(tasks, (Way("off"), Way("auto")), PLAIN, LOAD, repetitions)

    def stop() -> None:
        engine.end, bench.stopped = "cancelled", True
        for comparison in bench.comparisons:
            comparison.stopped = True

    def changed(task: Task, run: Run) -> None:
        if run not in begun:
            begun.append(run)
        if len(begun) == number:
            stop()

    asyncio.run(run_bench(engine, bench, changed=changed, warming=lambda way: None if number else stop()))
    return bench, engine


def rows_of(text: str) -> dict[tuple[str, str], list[str]]:
    """Category and way -> the other cells."""
    cells = [re.split(r"  +", line) for line in text.splitlines()]
    return {(row[0], row[1]): row[2:] for row in cells if len(row) == len(COLUMNS)}


def test_a_factor_without_a_pair_of_runs_is_a_dash() -> None:
    bench, engine = stopped_before(4)  # code: off and auto on a, auto alone on b; nothing of story
    assert [run.way.label for comparison in bench.comparisons for run in comparison.of(Way("auto"))] == ["auto"] * 2
    assert bench.runs_alone == 1
    rows = rows_of(as_text(bench, engine.pair))
    assert (rows["code", "off"][0], rows["code", "auto"][0]) == ("1", "1.00")
    assert [rows["story", way] for way in ("off", "auto")] == [["–", "–", "–", "–", "0"]] * 2
    assert "| story | off | – |" in as_markdown(bench, engine.pair)
    bench, engine = stopped_before(0)
    assert bench.runs_made == 0
    factors = {cells[0] for key, cells in rows_of(as_text(bench, engine.pair)).items() if key[0] != "category"}
    assert factors == {"–"}


LONG = Task("d", "code", (Message(role="user", content="word " * 9000),), where="mine.jsonl, line 4")
TOO_LONG = (
    "mine.jsonl, line 4 is left out: its prompt is 9,000 tokens long, and the context of 8,192 has room for 8,191."
)


def test_a_prompt_that_does_not_fit_is_left_out_before_the_first_run() -> None:
    engine = PaperEngine()
    bench = Bench([TASKS[0], LONG, TASKS[2]], (Way("off"), Way("auto")), PLAIN, LOAD, 1)
    asyncio.run(run_bench(engine, bench))
    assert bench.left_out == [TOO_LONG]
    assert (bench.runs_made, bench.runs_wanted) == (4, 4)
    assert "word" not in {settings.messages[-1].content.strip()[:4] for settings in engine.asked}
    assert as_json(bench, engine.pair, None)["left_out"] == [TOO_LONG]
    for report in (as_text(bench, engine.pair), as_markdown(bench, engine.pair)):
        assert TOO_LONG in report.splitlines()


def test_a_stored_prompt_that_does_not_fit_is_left_out_too() -> None:
    tasks = [Task(name, "own chats", (), ids) for name, ids in (("7", (1,) * 8191), ("8", (1,) * 8192))]
    bench = Bench(tasks, (Way("off"), Way("auto")), PLAIN, LOAD, 1)
    asyncio.run(run_bench(PaperEngine(), bench))
    assert [task.id for task in bench.tasks] == ["7"]
    assert bench.left_out[0].startswith("Prompt 8 is left out: its prompt is 8,192 tokens long")


def test_where_no_prompt_fits_nothing_is_run() -> None:
    engine = PaperEngine()
    bench = Bench([LONG], (Way("off"), Way("auto")), PLAIN, LOAD, 1)
    with pytest.raises(RunFailed, match=r"No prompt can be answered\. mine\.jsonl, line 4 is left out: its prompt is"):
        asyncio.run(run_bench(engine, bench))
    assert engine.asked == []


@pytest.mark.parametrize(
    ("code", "stopped", "failure"),
    [
        (ErrorCode.CANCELLED, True, ""),
        (ErrorCode.ENGINE_STOPPED, False, "It was not counted."),
        (ErrorCode.TEMPLATE_FAILED, False, "No prompt can be answered. Prompt a is left out: It was not counted."),
    ],
)
def test_what_keeps_prompts_from_being_looked_at(code: ErrorCode, stopped: bool, failure: str) -> None:
    engine = PaperEngine(uncounted=code)
    bench = Bench(TASKS, (Way("off"), Way("auto")), PLAIN, LOAD, 1)
    with pytest.raises(RunFailed) if failure else contextlib.nullcontext():
        asyncio.run(run_bench(engine, bench))
    assert (bench.stopped, bench.failure, engine.asked) == (stopped, failure, [])


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (3, "Stopped after 2 of 12 runs (2 runs of each way wanted)."),
        (
            4,
            "Stopped after 3 of 12 runs (2 runs of each way wanted). The figures leave out 1 run that not every "
            "way has made.",
        ),
    ],
)
def test_a_bench_that_was_stopped_says_so(number: int, words: str) -> None:
    bench, engine = stopped_before(number)
    for report in (as_text(bench, engine.pair), as_markdown(bench, engine.pair)):
        assert words in report.splitlines()
        assert ": 3 prompts, 2 threads, " in report
        assert "2 runs of each way," not in report
    assert words in as_text(bench, None).splitlines()
    whole, engine = measured({"a": 1.0, "b": 1.0, "c": 1.0})
    assert "Stopped" not in as_text(whole, engine.pair)


def test_figures_that_stand_beside_each_other_are_of_the_same_prompts() -> None:
    """Auto alone has come to the second prompt: no figure of it stands beside those of off on the first."""
    bench, engine = stopped_before(4)
    for run in bench.comparisons[1].of(Way("auto")):
        run.stats = run.stats.model_copy(update={"decode_tokens_per_second": 1000.0})
    rows = rows_of(as_text(bench, engine.pair))
    for category in ("code", "all"):
        assert [rows[category, way][1] for way in ("off", "auto")] == ["38.7", "38.7"]
        assert [rows[category, way][-1] for way in ("off", "auto")] == ["1", "1"]
    assert len(as_json(bench, engine.pair, None)["runs"]) == 4


def test_own_prompts_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"prompt": "one"}\n\n{"messages": [{"role": "user", "content": "two"}], "category": "x"}\n')
    assert [(task.id, task.category) for task in own(file)] == [("1", "own"), ("3", "x")]
    for text, words in (
        ("", "mine.jsonl holds no prompt."),
        ("[1]", "mine.jsonl, line 1: no JSON object."),
        ("[" * 100_000, "mine.jsonl, line 1: no JSON object (it is nested too deeply)."),
        (
            '{"prompt": "a\\ud800"}',
            "mine.jsonl, line 1: a text with half a character in it (\\ud800 to \\udfff",
        ),
        ('{"prompt": "a", "id": []}', 'mine.jsonl, line 1: "id" and "category" must be texts.'),
        ('{"prompt": " "}', 'mine.jsonl, line 1: neither "prompt" (a text) nor "messages" (a list).'),
        ('{"messages": [{"role": "king"}]}', "mine.jsonl, line 1: a message needs a role"),
    ):
        file.write_text(text)
        with pytest.raises(BadSuite) as error:
            own(file)
        assert words in str(error.value)
    with pytest.raises(BadSuite, match="cannot be read"):
        own(tmp_path / "none.jsonl")


def test_categories_and_how_many_of_each() -> None:
    assert [task.id for task in choose(TASKS, [], 1)] == ["a", "c"]
    assert [task.id for task in choose(TASKS, ["story"], None)] == ["c"]
    with pytest.raises(BadSuite, match="There is no category 'poem'; there are code, story"):
        choose(TASKS, ["poem"], None)
