"""The benchmark of the interface: its engine that only pretends, its texts, its chats and its table."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path

import pytest
from pydantic import BaseModel

import engine.answer
from app.chats.store import open_chats
from engine.protocol import Finished, Generate, GenerateSettings, Load, LoadSettings, Message, ModelFile, TextDelta
from tests.bench.ui import host, stores
from tests.bench.ui.report import Row, percentile, to_json, to_markdown
from tests.bench.ui.texts import KINDS, tokens

PAIR = host._pair(Load(id=1, settings=LoadSettings(target=ModelFile(path="steady.gguf"))))


def generate(
    monkeypatch: pytest.MonkeyPatch, words: str, cancelled: threading.Event | None = None
) -> tuple[list[TextDelta], Finished]:
    said: list[BaseModel] = []
    monkeypatch.setattr(host, "_say", said.append)
    settings = GenerateSettings(messages=(Message(role="user", content=words),))
    host.generate(Generate(id=2, settings=settings), PAIR, cancelled or threading.Event())
    last = said[-1]
    assert isinstance(last, Finished)
    return [event for event in said if isinstance(event, TextDelta)], last


def test_events_come_as_often_as_the_engine_sends_them() -> None:
    assert (host.TEXT_INTERVAL, host.PROGRESS_INTERVAL) == (
        engine.answer.TEXT_INTERVAL,
        engine.answer.PROGRESS_INTERVAL,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_the_same_each_time_and_cut_into_tokens(kind: str) -> None:
    once, again = (list(itertools.islice(tokens(kind), 2_000)) for _ in range(2))
    assert once == again
    assert {len(token) for token in once} == {3, 4, 5}


def test_the_code_block_does_not_end() -> None:
    text = "".join(itertools.islice(tokens("code"), 5_000))
    assert text.count("```") == 1
    assert text.count("\n") > 200


def test_an_answer_is_whole_and_its_figures_fit_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas, finished = generate(monkeypatch, "prose for 0.05 s at 4000")
    assert finished.finish_reason == "stop"
    assert "".join(delta.text for delta in deltas) == finished.text
    assert "".join(delta.sources for delta in deltas) == finished.sources
    assert finished.stats.accepted == finished.sources.count("l") > 0
    assert finished.stats.output_tokens == len(finished.sources) == len(finished.token_ids)
    assert finished.receipt is not None
    assert sum(finished.receipt.text_lengths) == len(finished.text)


def test_an_answer_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()
    cancelled.set()
    _, finished = generate(monkeypatch, "code for 60 s", cancelled)
    assert finished.finish_reason == "cancelled"


def test_any_other_message_gets_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert generate(monkeypatch, "hello")[1].text == host.ANYTHING


def test_the_full_store_opens_with_the_last_chat_and_lists_the_long_one_behind_it(tmp_path: Path) -> None:
    stores.fill(tmp_path, chats=4, messages=10)
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    try:
        last, long, *others = store.conversations(10)
        assert store.last_conversation() == last
        assert len(others) == 2
        assert store.path(last.id)[-1].content.endswith(stores.LAST_CHAT)
        assert len(store.path(long.id)) == 10
        assert store.path(long.id)[-1].content.endswith(stores.LAST_WORDS)
    finally:
        store.close()


def test_the_table_holds_each_figure_against_its_target() -> None:
    rows = [
        Row("drawing", 0.2, 0.25, "% of a core", "20 s", foreign=0.5),
        Row("key echo", 0.06, 0.05, "ms", samples=(0.05, 0.06)),
        Row("paste", 0.5, 1.0, "s", ours=True),
    ]
    table = to_markdown(rows).splitlines()
    assert table[2] == (
        "| drawing | 20.0 % of a core | 25.0 % of a core | 0.80 | met | 20 s; beside 0.50 cores of foreign work |"
    )
    assert table[3] == "| key echo | 60.0 ms | 50.0 ms | 1.20 | **not met** |  |"
    assert table[4] == "| paste | 0.50 s | 1.00 s * | 0.50 | met |  |"
    kept = json.loads(to_json(rows, {"cores": "2"}, {"seconds": 20.0}))
    assert [(row["ratio"], row["met"], row["busy"]) for row in kept["rows"]] == [
        (0.8, True, True),
        (1.2, False, False),
        (0.5, True, False),
    ]
    assert kept["rows"][1]["samples"] == [0.05, 0.06]


def test_percentiles() -> None:
    samples = [n / 100 for n in range(100, 0, -1)]
    assert percentile(samples, 0.95) == 0.95
    assert percentile(samples, 0.5) == 0.5
    assert percentile([3.0], 0.95) == 3.0
