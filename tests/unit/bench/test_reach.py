"""The bench's verdicts claim nothing that drafting cannot have caused: planted figures of a busy machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.compare.explained import explained
from engine.stats import Stats
from tests.bench import report
from tests.bench.reach import reach
from tests.bench.report.verdict_table import verdict_line
from tests.bench.run import Results, Run
from tests.bench.targets import BEST_FIXED, EVERY, OVERALL, Ratios, Status, Target, verdict
from tests.unit.bench.test_targets import ANSWER, run

MACHINE = "the difference is the machine's, not the drafter's"


def counted(
    variant: str, seconds: float, passes: int, drafted: int = 0, *, drafting: float = 0.0, **more: object
) -> Run:
    """40 tokens in so many passes; a tenth of the time went into reading the prompt."""
    figures = {"passes": passes, "drafted": drafted, "draft_seconds": drafting, "draft_prefill_seconds": 0.0}
    return run(variant, seconds, more={**figures, "prefill_seconds": 0.1 * seconds}, **more)


def turns(
    plain: float, auto: float, passes: int, drafted: int = 0, *, drafting: float = 0.0, name: str = "qa"
) -> list[Run]:
    """Three turns of plain and auto in one category, each a little slower than the one before."""
    return [
        made
        for number in range(3)
        for made in (
            counted("plain", plain + number / 100, 40, category=name, repetition=number),
            counted("auto", auto + number / 100, passes, drafted, drafting=drafting, category=name, repetition=number),
        )
    ]


@pytest.mark.parametrize(
    ("auto", "passes", "drafted", "drafting", "bar", "status", "words"),
    [
        (1.6, 40, 0, 0.0, 1.05, "not met", f"drafting saved no pass: {MACHINE}"),
        (1.6, 40, 0, 0.0, 0.98, "met", f"drafting saved no pass: {MACHINE}"),
        (1.6, 40, 20, 0.0, 0.98, "the machine's", f"drafting saved no pass: {MACHINE}"),
        (2.4, 40, 0, 0.0, 0.98, "met", f"drafting took no time: {MACHINE}"),
        (2.4, 40, 0, 0.0, 1.05, "not met", f"drafting took no time: {MACHINE}"),
        (0.6, 30, 10, 0.1, 1.2, "the machine's", f"drafting explains 1.29x at most: {MACHINE}"),
        (1.5, 25, 15, 0.1, 1.2, "met", ""),
        (2.4, 40, 20, 0.1, 0.98, "not met", ""),
    ],
    ids=["a gain", "no loss", "a hidden loss", "a loss", "no gain", "too large a gain", "its own gain", "its own loss"],
)
def test_a_difference_counts_as_far_as_drafting_explains_it(
    auto: float, passes: int, drafted: int, drafting: float, bar: float, status: Status, words: str
) -> None:
    target = Target("a", "auto", "plain", OVERALL, bar)
    runs = turns(2.0, auto, passes, drafted, drafting=drafting)
    found = verdict(target, Ratios(runs))
    assert found.status == status
    line = verdict_line(found)
    assert line.endswith(f"; {words}") if words else "drafting" not in line
    every = verdict(Target("a", "auto", "plain", EVERY, bar), Ratios(runs))
    assert (every.status, every.within) == (status, found.within)


def test_one_category_that_the_machine_made_faster_leaves_the_others_theirs() -> None:
    runs = [*turns(2.0, 1.5, 25, 15), *turns(2.0, 1.2, 40, 30, name="stem")]
    found = verdict(Target("a", "auto", "plain", EVERY, 0.98), Ratios(runs))
    assert (found.status, found.worst, found.failing) == ("the machine's", "stem", ())
    runs += turns(2.0, 2.6, 40, 30, name="rag")
    found = verdict(Target("a", "auto", "plain", EVERY, 0.98), Ratios(runs))
    assert (found.status, found.worst, found.failing) == ("not met", "rag", ("rag",))


def test_the_bound_is_the_programs_own_for_answer_and_decoding() -> None:
    plain, auto = counted("plain", 2.0, 40), counted("auto", 1.5, 25, 15, drafting=0.1)
    first = Stats(output_tokens=40, target_passes=40, prefill_seconds=0.2, total_seconds=2.0)
    other = Stats(
        output_tokens=40, target_passes=25, drafted=15, draft_seconds=0.1, prefill_seconds=0.15, total_seconds=1.5
    )
    assert reach(auto, plain, decode=False) == explained(first, other)
    assert reach(auto, plain, decode=True) == explained(first, other, per_token=True)


def test_a_fork_that_changes_the_length_is_scaled_here_too() -> None:
    plain = counted("plain", 2.0, 40)
    short = counted("auto", 1.2, 20, 10, drafting=0.1, tokens=ANSWER[:20], decode_seconds=0.8)
    whole = counted("auto", 2.0, 40, 20, drafting=0.2)
    found, same = reach(short, plain, decode=False), reach(whole, plain, decode=False)
    assert found is not None
    assert same is not None
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


def test_a_peer_counts_no_passes_and_has_no_bound() -> None:
    runs = [
        run(name, seconds, repetition=turn)
        for turn in range(3)
        for name, seconds in (("plain", 1.0), ("Llama plain", 1.2))
    ]
    found = verdict(Target("a", "plain", "Llama plain", OVERALL, 1.1), Ratios(runs))
    assert (found.status, found.within) == ("met", None)


def test_against_the_best_of_several_the_bound_is_that_ones() -> None:
    runs = []
    for turn in range(3):
        runs.append(counted("auto", 2.0 + turn / 100, 25, 15, repetition=turn))
        for length, seconds, passes in ((2, 1.4, 25), (4, 2.6, 38), (8, 3.0, 40)):
            runs.append(counted(f"fixed {length}", seconds + turn / 100, passes, 15, repetition=turn))
    found = verdict(Target("a", "auto", BEST_FIXED, EVERY, 0.97), Ratios(runs))
    rival = next(each for each in runs if each.variant == "fixed 2")
    assert found.within is not None
    assert found.within.low == pytest.approx((reach(runs[0], rival, decode=False) or found.within).low, abs=0.01)


def test_the_report_and_the_file_tell_it(tmp_path: Path) -> None:
    results = Results(runs=turns(2.0, 1.2, 40, 30))
    results.pairs["a"] = {"title": "a pair", "mode": "exact", "target": "x.gguf"}
    line = next(line for line in report.to_markdown(results).splitlines() if "auto / plain, every category" in line)
    assert line.endswith(f"| **the machine's** | drafting saved no pass: {MACHINE} |")
    assert "a target whose verdict hangs on the rest is *the machine's*" in report.to_markdown(results)
    report.save(results, tmp_path / "out.json")
    first = json.loads((tmp_path / "out.json").read_text())["verdicts"][0]
    assert first["status"] == "the machine's"
    assert first["explained"] == pytest.approx([0.59, 1.0], abs=0.02)
