"""Lines for people, records for programs."""

from __future__ import annotations

import pytest

from app.history.groups import History
from app.history.past import Mode, PastAnswer
from app.history.report import NOTHING, as_json, as_text
from app.library.speed_facts import speed_facts
from tests.unit.history.answers import past, steady

OFF = Mode("off", exact=True)
HISTORY = History([past(100, 9.0, other_cores=1.0), *steady(7), *steady(1, 18.0, mode=OFF)])


def test_a_line_for_each_mode_and_a_sentence_about_the_drop() -> None:
    lines = list(as_text(HISTORY))
    assert lines[0] == "SmolLM2 + lookup"
    assert lines[1] == "  auto, exact              ███████▄  19 tok/s, 9.0 to 19 in 8 answers"
    assert lines[2].startswith("  The last answer: 9.0 tok/s, usually 19 here: other programs used ")
    assert lines[3].endswith("18 tok/s in one answer")


def test_each_pair_stands_apart_and_is_called_as_in_its_receipts() -> None:
    other = past(200, 30.0, draft="/m/Qwen3-0.6B-Q8_0.gguf", draft_name="Qwen3-0.6B Q8_0", marks=("f", "d"))
    lines = list(as_text(History([other, *steady(2)])))
    assert (lines[0], lines[2], lines[3]) == ("SmolLM2 + Qwen3-0.6B Q8_0", "", "SmolLM2 + lookup")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([past(2, 19.0, tested=False), past(1, 19.0, tested=False)], "exact settings, untested"),
        ([past(2, 19.0), past(1, 19.0, tested=False)], "exact settings, partly untested"),
        ([past(1, 19.0)], "exact"),
        ([past(1, 19.0, mode=Mode("auto", exact=False))], "fast"),
    ],
)
def test_a_mode_is_called_as_the_receipts_call_it(answers: list[PastAnswer], words: str) -> None:
    history = History(answers)
    assert list(as_text(history))[1].startswith(f"  auto, {words}  ")
    assert [one["mode"] for one in as_json(history)] == [words]
    assert next(speed_facts(history.of_files("/m/smol.gguf"))).text.startswith(f"auto, {words}  ")


def test_nothing_yet() -> None:
    assert list(as_text(History(steady(3, tokens=5)))) == [NOTHING]
    assert as_json(History()) == []


def test_json_has_every_answer_and_the_drop() -> None:
    first, second = as_json(HISTORY)
    assert (first["speculation"], first["mode"], first["drop"]["cause"]) == ("auto", "exact", "load")
    assert [answer["answer"] for answer in first["answers"]] == [100, 7, 6, 5, 4, 3, 2, 1]
    assert (second["speculation"], second["drop"]) == ("off", None)


def test_files_are_known_again_by_what_they_are() -> None:
    moved = past(50, 20.0, target="/elsewhere/smol.gguf")
    replaced = past(60, 90.0, marks=("another", ""))
    history = History([replaced, moved, *steady(3)])
    (group,) = history.of_files("/elsewhere/smol.gguf")
    assert [answer.id for answer in group.answers] == [50, 3, 2, 1]
    (group,) = history.of_files("/m/smol.gguf")
    assert group.rates == (90.0,), "another file lies there now"
    assert history.of_files("/m/none.gguf") == ()


def test_a_pair_shows_its_own_answers_only() -> None:
    drafted = past(50, 30.0, draft="/m/d.gguf", marks=("f", "d"))
    assert History([drafted]).of_files("/m/smol.gguf") == (), "they were made with a draft"
    assert History([drafted]).of_files("/m/smol.gguf", "/m/d.gguf")[0].rates == (30.0,)
    assert History([drafted, *steady(1)]).of_files("/m/smol.gguf")[0].rates == (19.0,)
    assert History(steady(1)).of_files("/m/smol.gguf", "/m/d.gguf") == ()


def test_facts_for_the_models_screen() -> None:
    facts = list(speed_facts(HISTORY.of_files("/m/smol.gguf")))
    assert [(fact.label, fact.tone) for fact in facts] == [("speed here", "plain"), ("", "warn"), ("", "plain")]
    assert facts[0].text.startswith("auto, exact  ")
    assert facts[2].text.startswith("off, exact   ")
