"""Verdicts from runs made up on paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import report
from tests.bench.figures import Estimate
from tests.bench.run import Results, Run
from tests.bench.targets import (
    BEST_FIXED,
    BEST_LOOKUP,
    EVERY,
    OVERALL,
    TARGETS,
    Ratios,
    Target,
    judge,
    times_as_fast,
    verdict,
)
from tests.bench.work import CATEGORIES

ANSWER = list(range(100, 140))
LOOP = [7] * 40


def run(variant: str, seconds: float, category: str = "qa", **more: object) -> Run:
    values: dict[str, object] = {
        "pair": "a",
        "block": "greedy",
        "repetition": 0,
        "prompt": f"{category}-1",
        "temperature": 0.0,
        "tokens": ANSWER,
        "decode_seconds": seconds * 0.8,
        **more,
    }
    return Run(variant=variant, seconds=seconds, category=category, **values)  # type: ignore[arg-type]


def groups(*pairs: tuple[float, float], category: str = "qa", **more: object) -> list[Run]:
    """Runs of plain and auto, one group a pair of times."""
    return [
        made
        for number, (plain, auto) in enumerate(pairs)
        for made in (
            run("plain", plain, category, repetition=number, **more),
            run("auto", auto, category, repetition=number, **more),
        )
    ]


def test_a_target_without_an_interval_is_not_judged() -> None:
    assert judge(Estimate(0.5, None, None, 1), 0.98) == "not measured"
    found = verdict(Target("a", "auto", "plain", EVERY, 0.98), Ratios(groups((1.0, 2.0))))
    assert found.status == "not measured"


def test_a_ratio_is_taken_within_a_group_only() -> None:
    runs = [run("plain", 2.0, repetition=0), run("auto", 1.0, repetition=1)]
    assert Ratios(runs).by_category("a", "auto", "plain") == {}
    assert Ratios(groups((2.0, 1.0))).by_category("a", "auto", "plain") == {"qa": [2.0]}


def test_a_target_fails_only_when_the_interval_lies_wholly_below_it() -> None:
    bar = Target("a", "auto", "plain", OVERALL, 1.05)
    assert verdict(bar, Ratios(groups((1.0, 1.0), (1.01, 1.0), (0.99, 1.0)))).status == "not met"
    assert verdict(bar, Ratios(groups((0.9, 1.0), (1.2, 1.0)))).status == "met"
    assert verdict(bar, Ratios(groups((1.3, 1.0), (1.2, 1.0)))).status == "met"


def test_too_few_ratios_are_not_measured() -> None:
    assert verdict(Target("a", "auto", "plain", OVERALL, 1.05), Ratios(groups((0.5, 1.0)))).status == "not measured"
    assert verdict(Target("b", "auto", "plain", EVERY, 1.0), Ratios(groups((1.0, 1.0)))).status == "not measured"


def test_every_category_means_the_lowest_one() -> None:
    runs = groups((1.2, 1.0), (1.3, 1.0), category="translation") + groups((0.8, 1.0), (0.85, 1.0), category="qa")
    found = verdict(Target("a", "auto", "plain", EVERY, 0.98), Ratios(runs))
    assert (found.status, found.worst, found.failing, found.categories) == ("not met", "qa", ("qa",), 2)


def test_answers_that_loop_are_counted_apart() -> None:
    runs = groups((1.0, 1.0)) + groups((9.0, 1.0), category="stem", tokens=LOOP)
    assert Ratios(runs).by_category("a", "auto", "plain") == {"qa": [1.0]}
    assert Ratios(runs, looping=True).by_category("a", "auto", "plain") == {"stem": [9.0]}


def test_runs_beside_a_busy_neighbour_are_left_out_whatever_they_say() -> None:
    runs = groups((1.0, 1.0)) + groups((9.0, 1.0), category="stem", foreign=0.8)
    assert Ratios(runs).by_category("a", "auto", "plain") == {"qa": [1.0]}


def test_a_fork_that_changes_the_length_is_scaled() -> None:
    plain, short = run("plain", 10.0), run("auto", 6.0, tokens=ANSWER[:20], decode_seconds=4.0)
    assert times_as_fast(short, plain, "answer") == pytest.approx(10.0 / (2.0 + 8.0))
    assert times_as_fast(short, plain, "decode") == pytest.approx(8.0 / 8.0)


def test_the_best_fixed_length_is_chosen_by_category() -> None:
    runs = []
    for category, times in {"qa": (1.0, 1.0, 2.0, 3.0), "stem": (1.0, 3.0, 2.0, 1.1)}.items():
        for number in range(3):
            names = ("auto", "fixed 2", "fixed 4", "fixed 8")
            runs += [
                run(name, seconds, category, repetition=number) for name, seconds in zip(names, times, strict=True)
            ]
    found = verdict(Target("a", "auto", BEST_FIXED, EVERY, 0.97), Ratios(runs))
    assert found.status == "met"
    assert found.worst == "qa"
    assert found.measured is not None
    assert found.measured.value == pytest.approx(1.0)


def test_the_better_setting_of_the_peer_counts() -> None:
    runs = []
    for number in range(3):
        for name, seconds in {"auto": 1.0, "Llama lookup 2": 1.2, "Llama lookup 10": 2.0}.items():
            runs.append(run(name, seconds, repetition=number))
    found = verdict(Target("a", "auto", BEST_LOOKUP, OVERALL, 1.3), Ratios(runs))
    assert found.status == "not met"
    assert found.measured is not None
    assert found.measured.value == pytest.approx(1.2)


def test_the_targets_are_those_of_the_issue() -> None:
    bars = {(t.pair, t.variant, t.against, t.scope): t.bar for t in TARGETS}
    assert bars["a", "auto", "plain", EVERY] == 0.98
    assert bars["b", "auto", "plain", "copy_edit"] == 2.0
    assert bars["c", "auto q2_k", "plain", OVERALL] == 1.1
    assert bars["a", "auto", BEST_LOOKUP, OVERALL] == 1.3
    assert {t.scope for t in TARGETS} <= {EVERY, OVERALL, *CATEGORIES}


def test_a_report_can_be_written_saved_and_shown_again(tmp_path: Path) -> None:
    busy = run("plain", 1.0, repetition=5, foreign=0.8)
    results = Results(form="short form", work="made up", created="2026-01-01T00:00:00+00:00", threads=2, tokens=40)
    results.pairs["a"] = {"title": "a pair", "mode": "exact", "target": "x.gguf"}
    results.costs["a"] = {"exact": {"behind": 256, "verify": [0.01 * n for n in range(1, 17)], "draft": None}}
    results.runs = [*groups((0.8, 1.0), (0.85, 1.0)), busy]
    results.prompt_ids["a"] = {"qa-1": [1, *ANSWER[:20], 2, ANSWER[0], ANSWER[1]]}
    report.save(results, tmp_path / "out.json")
    again = report.load(tmp_path / "out.json")
    assert again == results
    text = report.to_markdown(again)
    assert "| a | auto / plain, every category | 0.98 | lowest of 1: qa 0.82" in text
    assert "**not met**" in text
    assert "| lookup at most |" in text
    assert "V(2) 2.00 V(4) 4.00 V(8) 8.00" in text
    assert "1 of 5 runs were taken beside a busy neighbour" in text
    assert json.loads((tmp_path / "out.json").read_text())["verdicts"][0]["status"] == "not met"
    assert report.mismatches(again) == 0


def test_an_answer_that_differs_in_exact_mode_is_an_error() -> None:
    results = Results(
        runs=[run("plain", 1.0), run("auto", 1.0, tokens=ANSWER[::-1]), run("plain fast", 1.0, tokens=LOOP)]
    )
    results.pairs["a"] = {"title": "a pair", "mode": "exact", "target": "x.gguf"}
    assert report.mismatches(results) == 1
    assert any("WRONG" in line for line in report.warnings(results))
    results.pairs["a"]["mode"] = "fast"
    results = Results(runs=results.runs, pairs=results.pairs)
    assert report.mismatches(results) == 0


def test_a_report_of_nothing() -> None:
    assert "not measured" in report.to_markdown(Results())
