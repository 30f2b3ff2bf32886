"""No verdict claims of drafting what drafting cannot have caused: planted figures of a machine that was busy."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.compare.bench import Bench, run_bench
from app.compare.bench_report import as_json as bench_json
from app.compare.bench_report import as_markdown, as_text
from app.compare.conduct import Comparison, conduct
from app.compare.explained import Explained, Finding, explained, judge
from app.compare.report import as_json
from app.compare.verdict import faster_way, verdict
from app.compare.ways import Way
from app.score.card import Measured
from app.score.card import judge as judge_pair
from app.score.told import as_json as score_json
from app.score.told import best_words
from engine.protocol import GenerateSettings
from engine.stats import Stats
from tests.app.tui.fake_client import pair, stats
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_bench import PLAIN, TASKS
from tests.unit.compare.test_conduct import LOAD, WANTED
from tests.unit.score.test_card import outcome_of

OFF, AUTO = Way("off"), Way("auto")
TOKENS = 64
FAST, SLOW = (f"auto was {factor}x as fast as off here ({factor} to {factor})" for factor in ("1.18", "0.80"))
MACHINE = "the difference is the machine's, not the drafter's."


def engine_of(plain: float, auto: float, accepted: int, rejected: int, **more: float) -> PaperEngine:
    """64 tokens either way; ``accepted`` and ``rejected`` of what ``auto`` drafted. ``more``: other figures of it."""

    def counted(settings: GenerateSettings) -> dict[str, object]:
        if settings.speculation == "off":
            return {}
        return {"accepted": accepted, "rejected": rejected, "coverage": accepted / TOKENS, **more}

    return PaperEngine(
        lambda settings, nth: plain if settings.speculation == "off" else auto,
        ids=lambda settings: tuple(range(TOKENS)),
        counted=counted,
    )


def compared(plain: float, auto: float, accepted: int, rejected: int, **more: float) -> Comparison:
    engine = engine_of(plain, auto, accepted, rejected, **more)
    return asyncio.run(conduct(engine, Comparison((OFF, AUTO), WANTED, LOAD, 3)))


@pytest.mark.parametrize(
    ("plain", "auto", "accepted", "rejected", "words", "kept"),
    [
        (2.36, 2.0, 0, 9, f"{FAST}, but drafting saved no pass: {MACHINE}", None),
        (2.36, 2.0, 0, 0, f"{FAST}, but drafting saved no pass: {MACHINE}", None),
        (
            2.36, 2.0, 3, 6,
            f"{FAST}, but drafting explains 1.05x at most: {MACHINE}",
            None,
        ),
        (2.36, 2.0, 20, 6, "auto is 1.18x faster than off here (1.18 to 1.18).", "auto"),
        (
            3.2, 2.0, 20, 6,
            "auto is 1.60x faster than off here (1.60 to 1.60), of which drafting explains 1.45x at most.",
            "auto",
        ),
        (2.0, 2.5, 0, 0, f"{SLOW}, but drafting took no time: {MACHINE}", None),
        (
            2.0, 2.5, 0, 3,
            f"{SLOW}, but drafting explains 0.96x at worst: {MACHINE}",
            None,
        ),
        (2.0, 2.5, 0, 20, "auto is slower than off here: 0.80x as fast (0.80 to 0.80).", "off"),
        (
            2.0, 4.0, 0, 50,
            "auto is slower than off here: 0.50x as fast (0.50 to 0.50), of which drafting explains 0.56x at worst.",
            "off",
        ),
    ],
)  # fmt: skip
def test_a_comparison_claims_no_more_than_drafting_explains(
    plain: float, auto: float, accepted: int, rejected: int, words: str, kept: str | None
) -> None:
    comparison = compared(plain, auto, accepted, rejected)
    assert verdict(comparison, (None, None)) == words
    found = faster_way(comparison)
    assert (found.label if found else None) == kept
    told = json.loads(json.dumps(as_json(comparison, (None, None), None)))
    assert told["verdict"] == words
    assert told["speedup"]["auto"]["explained"]["low"] <= 1 <= told["speedup"]["auto"]["explained"]["high"]


def test_the_time_of_the_drafter_explains_a_loss() -> None:
    """Nothing was verified, but the draft model read the prompt."""
    comparison = compared(2.0, 2.5, 0, 0, draft_prefill_seconds=0.5)
    assert verdict(comparison, (None, None)) == "auto is slower than off here: 0.80x as fast (0.80 to 0.80)."


def test_what_is_read_of_the_prompt_cannot_be_saved() -> None:
    plain = stats(64, accepted=0, rejected=0, total_seconds=2.0, prefill_seconds=1.0)
    drafted = stats(64, accepted=32, rejected=0, total_seconds=1.0, prefill_seconds=0.5)
    found = explained(plain, drafted)
    assert found is not None
    assert found.high == pytest.approx(2.0 / 1.5)
    behind = explained(plain, drafted, per_token=True)
    assert behind is not None
    assert behind.high == pytest.approx(2.0)


def test_the_way_that_others_are_held_against_may_draft_too() -> None:
    """Plain is faster by the drafts of the other, which cost it wide passes and the drafter's time."""
    drafted = stats(64, accepted=0, rejected=64, total_seconds=3.0, draft_seconds=1.0)
    plain = stats(64, accepted=0, rejected=0, total_seconds=1.0)
    found = explained(drafted, plain)
    assert found is not None
    assert found.high == pytest.approx(3.0)
    assert explained(plain, Stats()) is None


@pytest.mark.parametrize(
    ("low", "high", "within", "finding"),
    [
        (1.004, 1.3, None, Finding.ALIKE),
        (1.1, 1.3, None, Finding.FASTER),
        (1.1, 1.3, Explained(0.5, 1.2), Finding.FASTER),
        (1.1, 1.3, Explained(0.5, 1.1), Finding.MACHINE),
        (1.1, 1.3, Explained(0.5, 1.0), Finding.MACHINE),
    ],
)
def test_what_a_gain_of_a_fifth_says(low: float, high: float, within: Explained | None, finding: Finding) -> None:
    assert judge(1.2, low, high, within) is finding


@pytest.mark.parametrize(
    ("least", "finding"), [(0.7, Finding.SLOWER), (0.76, Finding.SLOWER), (0.9, Finding.MACHINE), (1, Finding.MACHINE)]
)
def test_what_a_loss_of_a_quarter_says(least: float, finding: Finding) -> None:
    """Seen on a busy machine with 0 of 24 proposals accepted: nearly all of the loss was theirs."""
    assert judge(0.75, 0.62, 0.99, Explained(least, 1.0)) is finding


def test_a_bench_says_what_is_the_machines_own() -> None:
    engine = engine_of(2.36, 2.0, 0, 9)
    bench = Bench(TASKS, (OFF, AUTO), PLAIN, LOAD, 2)
    asyncio.run(run_bench(engine, bench))
    words = f"auto was 1.18x as fast as off here (1.18 to 1.18), but drafting saved no pass: {MACHINE}"
    told = json.loads(json.dumps(bench_json(bench, engine.pair, None)))
    assert told["verdict"] == f"{words} code: {words}"  # of the story there are two pairs of runs only
    assert [line["finding"] for line in told["summary"]] == [None, "the machine's", None, None, None, "the machine's"]
    for report in (as_text(bench, engine.pair), as_markdown(bench, engine.pair)):
        assert words in report.splitlines()
        assert f"code: {words}" in report.splitlines()


@pytest.mark.parametrize(
    ("plain", "auto", "repetitions", "words"),
    [
        (2.0, 1.5, 2, "auto is 1.33x faster than off here (1.33 to 1.33)."),
        (2.0, 2.0, 2, "No difference between auto and off that 6 pairs of runs could show (1.00 to 1.00)."),
        (2.0, 2.5, 2, "auto is slower than off here: 0.80x as fast (0.80 to 0.80)."),
    ],
)
def test_a_bench_has_a_verdict(plain: float, auto: float, repetitions: int, words: str) -> None:
    engine = engine_of(plain, auto, 30, 30)
    bench = Bench(TASKS, (OFF, AUTO), PLAIN, LOAD, repetitions)
    asyncio.run(run_bench(engine, bench))
    assert bench_json(bench, engine.pair, None)["verdict"] == words
    assert words in as_text(bench, engine.pair).splitlines()


def test_too_few_runs_of_a_bench_are_called_so() -> None:
    engine = engine_of(2.0, 1.5, 30, 30)
    bench = Bench(TASKS[:1], (OFF, AUTO), PLAIN, LOAD, 1)
    asyncio.run(run_bench(engine, bench))
    words = "auto was 1.33x as fast as off in 1 pair of runs, too few to say more."
    assert bench_json(bench, engine.pair, None)["verdict"] == words


@pytest.mark.parametrize(
    ("plain", "accepted", "best", "words"),
    [
        (
            2.36, 0, "off",
            f"Best here: off. lookup was 1.18x (1.18 to 1.18), but drafting saved no pass: {MACHINE}",
        ),
        (2.36, 30, "lookup", "Best here: lookup, 1.18x on whole answers (1.18 to 1.18)."),
        (
            3.2, 20, "lookup",
            "Best here: lookup, 1.60x on whole answers (1.60 to 1.60), of which drafting explains 1.45x at most.",
        ),
    ],
)  # fmt: skip
def test_a_score_says_what_is_the_machines_own(plain: float, accepted: int, best: str, words: str) -> None:
    bench = Bench(TASKS, (OFF, Way("lookup"), AUTO), PLAIN, LOAD, 2)
    asyncio.run(run_bench(engine_of(plain, 2.0, accepted, 9), bench))
    found = Measured(pair(), outcome_of(), bench, None, 0.0, own_chats=False)
    card = judge_pair(found)
    assert (card.best, best_words(card)) == (best, words)
    told = json.loads(json.dumps(score_json(card, found)))
    assert (told["best"], told["verdict"]) == (best, words)


def test_the_way_with_the_largest_gain_that_drafting_explains_is_best() -> None:
    """The machine made auto look better than lookup, by more than its few accepted tokens can have done."""

    def counted(settings: GenerateSettings) -> dict[str, object]:
        return {"accepted": {"off": 0, "lookup": 30, "auto": 14}[settings.speculation], "rejected": 0}

    engine = PaperEngine(
        lambda settings, nth: {"off": 2.0, "lookup": 1.5, "auto": 1.45}[settings.speculation],
        ids=lambda settings: tuple(range(TOKENS)),
        counted=counted,
    )
    ways = (OFF, Way("lookup"), AUTO)
    comparison = asyncio.run(conduct(engine, Comparison(ways, WANTED, LOAD, 3)))
    assert faster_way(comparison) == Way("lookup")
    bench = Bench(TASKS, ways, PLAIN, LOAD, 2)
    asyncio.run(run_bench(engine, bench))
    assert judge_pair(Measured(pair(), outcome_of(), bench, None, 0.0, own_chats=False)).best == "lookup"
