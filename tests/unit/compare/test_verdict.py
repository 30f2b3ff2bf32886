"""What may be said of the runs: never more than their spread allows."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from app.compare.causes import Cause
from app.compare.conduct import Comparison, conduct
from app.compare.report import as_json, as_text, busy_words, same_words, stopped_words
from app.compare.sides import side_words
from app.compare.verdict import faster_way, identical, table, verdict
from app.compare.ways import Way, read_ways
from app.receipt import wide
from engine.protocol import GenerateSettings, ModelFile
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_conduct import LOAD, WANTED

OFF, AUTO = Way("off"), Way("auto")
MEMORY = (310_000_000, 310_000_000)


def made(plain: list[float], auto: list[float], **engine: object) -> Comparison:
    """The first second of each list is the warm-up's."""

    def seconds(settings: GenerateSettings, nth: int) -> float:
        return (plain if settings.speculation == "off" else auto)[nth]

    comparison = Comparison((OFF, AUTO), WANTED, LOAD, len(plain) - 1)
    return asyncio.run(conduct(PaperEngine(seconds, **engine), comparison))  # type: ignore[arg-type]


def test_a_gain_in_every_pair_of_runs_is_called_one() -> None:
    comparison = made([9, 2.0, 2.2, 2.1], [9, 1.5, 1.4, 1.5])
    assert verdict(comparison, MEMORY) == "auto is 1.40x faster than off here (1.33 to 1.57)."


def test_a_spread_on_both_sides_of_one_is_no_difference() -> None:
    comparison = made([9, 2.0, 2.0, 2.0], [9, 1.8, 2.1, 1.9])
    words = "No difference between auto and off that 3 runs could show (0.95 to 1.11)."
    assert verdict(comparison, MEMORY) == words


@pytest.mark.parametrize(
    ("modes", "faster", "words"),
    [
        (
            ("lookup", "auto"),
            (),
            "Neither lookup nor auto differs from off by more than 3 runs could show (0.95 to 1.11).",
        ),
        (
            ("lookup:4", "lookup:8", "auto"),
            (),
            "None of lookup:4, lookup:8 and auto differs from off by more than 3 runs could show (0.95 to 1.11).",
        ),
        (
            ("lookup", "draft", "auto"),
            ("draft",),
            "draft is 2.00x faster than off here (2.00 to 2.00). "
            "Neither lookup nor auto differs from off by more than 3 runs could show (0.95 to 1.11).",
        ),
    ],
)
def test_ways_without_a_difference_share_a_sentence(
    modes: tuple[str, ...], faster: tuple[str, ...], words: str
) -> None:
    ways = read_ways(",".join(("off", *modes)))
    comparison = alike(ways, faster)
    assert verdict(comparison, [310_000_000] * len(ways)) == words


def test_the_memory_of_drafts_is_told_without_a_gain_too() -> None:
    comparison = alike((OFF, Way("lookup"), Way("draft"), AUTO), ())
    words = (
        "None of lookup, draft and auto differs from off by more than 3 runs could show (0.95 to 1.11); a draft takes"
    )
    assert verdict(comparison, (310, 310, 400_000_310, 400_000_310)) == f"{words} 0.4 GB."
    assert verdict(comparison, (310, 310, 400_000_310, 700_000_310)) == f"{words} 0.4 to 0.7 GB."


def alike(ways: tuple[Way, ...], faster: tuple[str, ...]) -> Comparison:
    """Three runs of each way that show nothing, but for those that are ``faster``."""

    made: Counter[tuple[str, int | None]] = Counter()

    def seconds(settings: GenerateSettings, nth: int) -> float:
        if settings.speculation in faster:
            return 1.0
        way = (settings.speculation, settings.draft_max)
        made[way] += 1
        return 2.0 if settings.speculation == "off" else (9, 1.8, 2.1, 1.9)[made[way] - 1]

    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    return asyncio.run(conduct(PaperEngine(seconds), Comparison(ways, WANTED, load, 3)))


def test_a_loss_is_called_slower() -> None:
    comparison = made([9, 2.0, 2.0, 2.0], [9, 2.5, 2.4, 2.6])
    assert verdict(comparison, MEMORY) == "auto is slower than off here: 0.80x as fast (0.77 to 0.83)."


def test_two_runs_are_too_few() -> None:
    comparison = made([9, 2.0, 2.0], [9, 1.0, 1.0])
    assert verdict(comparison, MEMORY) == "auto was 2.00x as fast as off in 2 runs: too few to say more."


@pytest.mark.parametrize(
    ("others", "kept"),
    [
        ({"auto": [1.5, 1.4, 1.5]}, "auto"),
        ({"auto": [2.5, 2.4, 2.6]}, "off"),
        ({"auto": [1.8, 2.1, 1.9]}, None),
        ({"auto": [1.5]}, None),
        ({"auto": [0.5, 2.1, 0.5], "lookup": [1.5, 1.4, 1.5]}, "lookup"),
        ({"auto": [1.4, 1.4, 1.4], "lookup": [1.5, 1.5, 1.5]}, "auto"),
        ({"auto": [1.8, 2.1, 1.9], "lookup": [2.5, 2.4, 2.6]}, None),
        ({"auto": [2.3, 2.4, 2.5], "lookup": [2.5, 2.4, 2.6]}, "off"),
    ],
)
def test_a_way_is_kept_only_where_it_is_faster_for_certain(others: dict[str, list[float]], kept: str | None) -> None:
    ways = (OFF, *(way for way in (AUTO, Way("lookup")) if way.mode in others))
    rounds = len(others["auto"])

    def seconds(settings: GenerateSettings, nth: int) -> float:
        made = others.get(settings.speculation, [2.0] * rounds)
        return [9, *made][nth]

    comparison = asyncio.run(conduct(PaperEngine(seconds), Comparison(ways, WANTED, LOAD, rounds)))
    found = faster_way(comparison)
    assert (found.label if found else None) == kept


def test_the_memory_of_a_draft_is_told_with_the_gain() -> None:
    comparison = made([9, 2.0, 2.0, 2.0], [9, 1.0, 1.0, 1.0])
    words = "auto is 2.00x faster than off here (2.00 to 2.00); its draft takes 0.4 GB."
    assert verdict(comparison, (310_000_000, 710_000_000)) == words


def test_without_a_whole_round_nothing_is_said() -> None:
    comparison = Comparison((OFF, AUTO), WANTED, LOAD)
    assert verdict(comparison, MEMORY) == "No way has run to its end yet; nothing can be said."
    assert same_words(comparison, None) == "There are no two answers to compare yet."


@pytest.mark.parametrize(
    ("whole", "stopped", "words"),
    [
        (1, False, "The first round is not through yet: lookup and auto have not run to the end."),
        (2, False, "The first round is not through yet: auto has not run to the end."),
        (2, True, "The first round was not through: auto has not run to the end."),
    ],
)
def test_within_the_first_round_the_ways_that_are_missing_are_named(whole: int, stopped: bool, words: str) -> None:
    comparison = alike((OFF, Way("lookup"), AUTO), ())
    for run in comparison.runs[whole:]:
        run.finish_reason = ""
    comparison.stopped = stopped
    assert verdict(comparison, (1, 1, 1)) == f"{words} Nothing can be said of the speed."


def test_what_was_made_before_a_stop_is_told() -> None:
    comparison = made([9, 2.0, 2.0, 2.0], [9, 1.0, 1.0, 1.0])
    for run in comparison.runs[3:]:
        run.finish_reason = "cancelled"
    comparison.stopped = True
    assert stopped_words(comparison, MEMORY) == (
        "Compare was stopped after 3 runs of 6. auto was 2.00x as fast as off in one run: too few to say more. "
        "Identical: 3 tokens in all 3 runs, exact."
    )
    for run in comparison.runs:
        run.finish_reason = "cancelled"
    assert stopped_words(comparison, MEMORY) == ""


def test_a_share_is_whole_only_where_nothing_was_rejected() -> None:
    comparison = made([9, 2.0], [9, 1.0], counted=lambda settings: {"accepted": 533, "rejected": 2, "coverage": 0.999})
    rows = {row.name: row for row in table(comparison, MEMORY)}
    assert rows["accepted"].cells[1] == "99 % (533/535)", "as in the line under an answer"
    assert rows["of the answer"].cells[1] == "99 %"
    run = comparison.of(AUTO)[0]
    assert "accepted 99 % (533/535)" in wide(run.stats, "lookup")
    comparison = made([9, 2.0], [9, 1.0], counted=lambda settings: {"accepted": 1, "rejected": 400, "coverage": 0.001})
    rows = {row.name: row for row in table(comparison, MEMORY)}
    assert (rows["accepted"].cells[1], rows["of the answer"].cells[1]) == ("1 % (1/401)", "1 %")


def answered(ways: tuple[Way, ...], ids: dict[str, tuple[int, ...]]) -> Comparison:
    """One run of each way, by its label."""
    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    label = {(way.mode, way.draft_max): way.label for way in ways}
    engine = PaperEngine(ids=lambda settings: ids[label[settings.speculation, settings.draft_max]])
    return asyncio.run(conduct(engine, Comparison(ways, WANTED, load, 1)))


def test_of_more_than_two_ways_it_is_said_which_answer_each_is_like() -> None:
    ways = (OFF, Way("lookup"), Way("draft"), AUTO)
    same, other, third = (5, 6, 7), (5, 8, 7), (5, 9)
    comparison = answered(ways, {"off": same, "lookup": same, "draft": other, "auto": third})
    assert same_words(comparison, None) == (
        "The answers differ from token 2 on. There lookup is like off, auto is like neither."
    )
    found = as_json(comparison, (1, 1, 1, 1), Cause(1, (6, 8), None, None, "words"))
    assert found["sides"] == {"off": (6,), "lookup": (6,), "draft": (8,), "auto": (9,)}
    assert (found["difference"]["place"], found["difference"]["token_number"]) == (1, 2)
    comparison = answered(ways, {"off": same, "lookup": other, "draft": other, "auto": other})
    assert same_words(comparison, None).endswith("There draft and auto are like lookup.")
    comparison.runs[-1].token_ids = same
    comparison.runs.append(replace(comparison.runs[-1], token_ids=other))
    assert same_words(comparison, None).endswith("There draft is like lookup, auto is not the same in all runs.")
    assert side_words(answered((OFF, AUTO), {"off": same, "auto": other})) == "", "both are named"
    assert side_words(answered((OFF, AUTO), {"off": same, "auto": same})) == ""


def test_one_token_is_one() -> None:
    comparison = answered((OFF, AUTO), {"off": (5,), "auto": (5,)})
    assert same_words(comparison, None) == "Identical: 1 token in all 2 runs, exact."


def test_identical_is_what_was_compared() -> None:
    comparison = made([9, 2.0, 2.0, 2.0], [9, 1.0, 1.0, 1.0])
    assert identical(comparison) is True
    assert same_words(comparison, None) == "Identical: 3 tokens in all 6 runs, exact."
    other = made(
        [9, 2.0, 2.0, 2.0],
        [9, 1.0, 1.0, 1.0],
        ids=lambda settings: (5, 6, 7) if settings.speculation == "off" else (5, 8),
    )
    assert identical(other) is False


def test_the_table_has_medians_and_ratios_of_neighbouring_runs() -> None:
    comparison = made([9, 2.0, 2.4, 2.2], [9, 1.0, 1.2, 1.0])
    rows = {row.name: row for row in table(comparison, MEMORY)}
    assert rows["whole answer"].cells == ("2.20 s", "1.00 s")
    ratio = rows["whole answer"].ratios[0]
    assert ratio is not None
    assert (ratio.median, ratio.low, round(ratio.high, 2), ratio.count) == (2.0, 2.0, 2.2, 3)
    assert rows["accepted"].cells == ("–", "67 % (6/9)")
    assert table(made([9, 2.0], [9, 0.004]), MEMORY)[0].cells == ("2.00 s", "4 ms")
    assert rows["memory, est."].cells == ("0.31 GB", "0.31 GB")


def test_text_and_json_say_the_same() -> None:
    comparison = made([9, 2.0, 2.4, 2.2], [9, 1.0, 1.2, 1.0])
    lines, found = as_text(comparison, MEMORY, None), as_json(comparison, MEMORY, None)
    assert lines[0].split() == ["off", "auto", "factor"]
    assert "factor (1.31x): times faster than off, median over pairs of alternating runs" in lines
    assert found["verdict"] in lines
    assert found["identical"] is True
    assert found["speedup"]["auto"]["median"] == 2.0
    assert [run["number"] for run in found["runs"]] == [1, 2, 3, 4, 5, 6]
    assert all(run["started"].endswith("+00:00") for run in found["runs"])
    assert found["runs"][0]["stats"]["total_seconds"] == 2.0
    assert any(line.startswith("whole answer") and "2.00x  (2.00 – 2.20)" in line for line in lines)


@pytest.mark.parametrize(
    ("whole", "words"),
    [
        (6, None),
        (3, "Stopped after 3 runs of 6: 1 run of each way."),
        (1, "Stopped after 1 run of 6: 0 runs of each way."),
    ],
)
def test_a_comparison_that_was_stopped_says_so(whole: int, words: str | None) -> None:
    comparison = made([9, 2.0, 2.4, 2.2], [9, 1.0, 1.2, 1.0])
    for run in comparison.runs[whole:]:
        run.finish_reason = "cancelled"
    comparison.stopped = words is not None
    lines = as_text(comparison, MEMORY, None)
    assert [line for line in lines if line.startswith("Stopped")] == ([words] if words else [])


def test_every_factor_stands_under_its_own_way() -> None:
    """Also where a way between has none yet."""
    comparison = alike((OFF, Way("lookup"), AUTO), ("auto",))
    head, first, *_ = as_text(comparison, [None] * 3, None)
    for label, factor in (("lookup", "1.05x"), ("auto", "2.00x")):
        assert head.index(f"factor {label}") == first.index(factor)
    for run in comparison.of(Way("lookup")):
        run.finish_reason = "cancelled"
    head, first, *_ = as_text(comparison, [None] * 3, None)
    assert head.index("factor auto") == first.index("2.00x")
    assert first[head.index("factor lookup")] == "–"


def test_a_busy_neighbour_is_told() -> None:
    comparison = made([9, 2.0, 2.4, 2.2], [9, 1.0, 1.2, 1.0])
    for run in comparison.runs:
        run.foreign = 0.02
    assert not any("Other processes" in line for line in as_text(comparison, MEMORY, None))
    comparison.runs[0].foreign = comparison.runs[1].foreign = 0.9
    words = (
        "Other processes used 0.9 cores during 2 of 6 runs; measure again when they are done, and the figures will be "
        "this program's own."
    )
    assert words in as_text(comparison, MEMORY, None)
    assert as_json(comparison, MEMORY, None)["notes"] == [words]
    comparison.runs[-1].finish_reason = "cancelled"
    assert busy_words(comparison.runs)[0].startswith("Other processes used 0.9 cores during 2 of 5 runs;")
