"""Rows, the best way, and the one thing that limits it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from app.compare.bench import Bench, run_bench
from app.compare.statistics import Estimate
from app.compare.suite import Task
from app.compare.ways import Way
from app.score.card import Measured, judge
from app.score.told import as_json, as_text, best_words
from engine.protocol import GenerateSettings, Message, ModelFile, SelfTestResult
from tests.app.tui.fake_client import model, pair
from tests.unit.compare.engines import PaperEngine
from tests.unit.compare.test_conduct import LOAD, WANTED

TASKS = [Task(name, "chat", (Message(role="user", content=name),)) for name in ("a", "b", "c", "d")]


def outcome_of(*, two: float = 1.1, four: float = 1.3) -> SelfTestResult:
    return SelfTestResult(
        widths=16,
        prefill=True,
        reuse=True,
        context=538,
        ratios={2: two, 3: (two + four) / 2, 4: four, 8: 2 * four},
        plain_seconds=0.01,
        prefill_tokens_per_second=500,
        fast_plain_seconds=0.01,
        fast_prefill_tokens_per_second=600,
    )


def measured(
    auto: float,
    *,
    result: SelfTestResult | None = None,
    foreign: float = 0.0,
    drafts: bool = False,
    tasks: list[Task] = TASKS,
    repetitions: int = 2,
) -> Measured:
    """Plain answers take two seconds, those of ``auto`` and the others ``auto``."""

    def seconds(settings: GenerateSettings, nth: int) -> float:
        return 2.0 if settings.speculation == "off" else auto

    bench = Bench(tasks, (Way("off"), Way("lookup"), Way("auto")), WANTED, LOAD, repetitions)
    asyncio.run(run_bench(PaperEngine(seconds), bench))
    return Measured(
        pair(draft=model("/m/d.gguf", "Tiny") if drafts else None),
        result,
        bench,
        400_000_000 if drafts else None,
        foreign,
        own_chats=False,
    )


def test_a_pair_that_gains_is_told_by_how_much() -> None:
    found = measured(1.0, result=outcome_of())
    card = judge(found)
    assert card.best in ("lookup", "auto")
    assert card.expected is not None
    assert card.expected.value == pytest.approx(2.0)
    text = "\n".join(as_text(card, found))
    assert "2.00x on whole answers (2.00 to 2.00)." in text
    assert "What limits it: how many proposals are right; nothing here speaks against it." in text


def test_a_target_that_cannot_gain_is_told_so() -> None:
    found = measured(2.1, result=outcome_of(two=2.0, four=4.0))
    card = judge(found)
    assert card.best == "off"
    assert "drafting would cost more than it brings even if it were always right" in card.limit
    assert as_json(card, found)["best"] == "off"


def test_where_plain_is_best_the_best_other_way_is_named() -> None:
    found = measured(2.5, result=outcome_of())
    card = judge(found)
    assert "Best here: off. lookup would be 0.80x (0.80 to 0.80)." in as_text(card, found)
    told = as_json(card, found)
    assert (told["best"], told["expected_speedup"]) == ("off", {"value": 1.0, "low": 1.0, "high": 1.0})
    would = {name: pytest.approx(0.8) for name in ("value", "low", "high")}
    assert told["rival"] == {"way": "lookup", "speedup": would}
    gains = measured(1.0, result=outcome_of())
    assert as_json(judge(gains), gains)["rival"] is None


def test_a_gain_that_is_not_certain_is_called_so() -> None:
    found = measured(1.6, result=outcome_of(), tasks=TASKS[:2], repetitions=1)
    doubted = replace(judge(found), best="off", rival=("auto", Estimate(1.13, 1.0, 1.3, 8)))
    assert best_words(doubted) == "Best here: off. auto would be 1.13x (1.00 to 1.30), no gain for certain."


def test_a_gain_that_is_shown_as_none_is_none() -> None:
    found = measured(1.995, result=outcome_of())
    assert best_words(judge(found)) == "Best here: off. lookup would be 1.00x (1.00 to 1.00)."


def test_a_spread_around_one_is_no_gain() -> None:
    found = measured(2.0, result=outcome_of())
    card = judge(found)
    assert card.best == "off"
    assert card.limit == "What limits it: too few proposals are right on this work."


@pytest.mark.parametrize("auto", [1.0, 3.0])
def test_one_pair_of_runs_is_neither_gain_nor_loss(auto: float) -> None:
    found = measured(auto, result=outcome_of(), tasks=TASKS[:1], repetitions=1)
    card = judge(found)
    assert card.best is None
    assert card.limit == "What limits it is not known from one run of each way: measure more."
    text = "\n".join(as_text(card, found))
    words = f"Which way is best here is not known: lookup {2 / auto:.2f}x in one pair of runs, too few to say more."
    assert words in text
    told = as_json(card, found)
    assert (told["best"], told["expected_speedup"]) == (None, None)
    one = {"value": pytest.approx(2 / auto), "low": None, "high": None}
    assert told["rival"] == {"way": "lookup", "speedup": one}


def test_other_work_on_the_machine_comes_first() -> None:
    card = judge(measured(1.0, result=outcome_of(), foreign=0.9))
    assert card.limit.startswith("What limits it: other work, 0.9 (cores were used by other processes meanwhile;")


def test_rows_of_a_draft_are_there_only_with_a_draft() -> None:
    names = [row.name for row in judge(measured(1.0, result=outcome_of())).rows]
    assert "a proposal" not in names
    assert "memory" not in names
    names = [row.name for row in judge(measured(1.0, result=outcome_of(), drafts=True)).rows]
    assert names.index("a proposal") < names.index("break-even") < names.index("memory")


def test_what_a_draft_costs_is_not_watered_down_by_lookup() -> None:
    def counted(settings: GenerateSettings) -> dict[str, object]:
        return {"drafted": 10, "draft_seconds": {"draft": 0.08, "lookup": 0.0001}.get(settings.speculation, 0.0)}

    load = LOAD.model_copy(update={"draft": ModelFile(path="/m/d.gguf")})
    bench = Bench(TASKS, (Way("off"), Way("lookup"), Way("draft"), Way("auto")), WANTED, load, 1)
    asyncio.run(run_bench(PaperEngine(counted=counted), bench))
    found = Measured(pair(draft=model("/m/d.gguf", "Tiny")), outcome_of(), bench, 1, 0.0, own_chats=False)
    values = {row.name: row.value for row in judge(found).rows}
    assert values["a proposal"] == "0.80"


def test_the_plot_says_whose_gain_it_shows() -> None:
    for drafts, whose, words in ((False, "lookup", "lookup"), (True, "draft", "the draft model")):
        found = measured(1.0, result=outcome_of(), drafts=drafts)
        card = judge(found)
        title = f"expected gain of {words} while decoding, by longest draft"
        assert card.curve_title == title
        assert title in as_text(card, found)
        assert as_json(card, found)["curve_of"] == whose


def test_without_a_self_test_nothing_is_claimed_about_passes() -> None:
    card = judge(measured(1.0))
    values = {row.name: row.value for row in card.rows}
    assert values["longer passes"] == values["break-even"] == "–"
    assert card.curve == ()


def test_prompts_that_were_left_out_are_a_row() -> None:
    found = measured(1.0, result=outcome_of())
    assert "left out" not in {row.name for row in judge(found).rows}
    found.bench.left_out.append("Prompt 8 is left out: its prompt is 8,192 tokens long.")
    (row,) = [row for row in judge(found).rows if row.name == "left out"]
    words = "prompt was not answered: Prompt 8 is left out: its prompt is 8,192 tokens long."
    assert (row.value, row.words, row.good) == ("1", words, None)
