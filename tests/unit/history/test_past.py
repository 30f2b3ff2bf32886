"""What is read from the store, and what it costs."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from app.chats.readonly import UnreadableStoreError
from app.chats.store import ChatStore, open_chats
from app.history.groups import History
from app.history.past import _QUERY, Mode, Past, read_past
from engine.exactness import UNTESTED_BADGE
from tests.unit.history.test_speeds import answered


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chats.sqlite"


def filled(file: Path, count: int = 1) -> ChatStore:
    store = open_chats(file, lambda notice: None)
    for number in range(count):
        answered(store, "/m/one.gguf", 10.0 + number, draft="/m/d.gguf")
    return store


def test_an_answer_with_what_its_speed_depends_on(file: Path) -> None:
    filled(file).close()
    (answer,) = read_past(file).answers
    assert (answer.name, answer.target, answer.draft) == ("one", "/m/one.gguf", "/m/d.gguf")
    assert (answer.rate, answer.tokens, answer.context, answer.mode) == (10.0, 100, 100, Mode("auto", exact=True))
    assert answer.setup["the number of threads"] == "2"
    assert answer.other_cores is None
    assert "the build of llama.cpp" not in answer.setup


def test_names_and_modes_are_those_of_the_receipts(file: Path) -> None:
    store = open_chats(file, lambda notice: None)
    answered(store, "/m/SmolLM2-135M-Instruct.Q4_1.gguf", 10.0, draft="/m/smollm2-135m-q2_k.gguf")
    answered(store, "/m/SmolLM2-135M-Instruct.Q4_1.gguf", 10.0)
    store.close()
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE figures SET receipt = json_set(receipt, '$.mode', ?)", (UNTESTED_BADGE,))
    alone, drafted = read_past(file).answers
    assert drafted.pair == "SmolLM2-135M Q4_1 + smollm2-135m q2_k"
    assert alone.pair == "SmolLM2-135M Q4_1 + lookup"
    assert (drafted.tested, drafted.mode.exact) == (False, True)


def test_a_context_is_never_more_than_full(file: Path) -> None:
    store = filled(file)
    answered(store, "/m/one.gguf", 10.0, tokens=513)
    store.close()
    assert [answer.context for answer in read_past(file).answers] == [512, 100]


def test_the_newest_come_first_and_no_more_than_asked_for(file: Path) -> None:
    filled(file, 4).close()
    assert [answer.rate for answer in read_past(file, 3).answers] == [13.0, 12.0, 11.0]


def test_what_cannot_be_read_is_left_out_and_told(file: Path) -> None:
    filled(file, 3).close()
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        newest, second, _ = [row[0] for row in db.execute("SELECT message FROM figures ORDER BY message DESC")]
        db.execute("UPDATE figures SET receipt = '{' WHERE message = ?", (newest,))
        db.execute("UPDATE figures SET stats = ? WHERE message = ?", (json.dumps({"output_tokens": "many"}), second))
    found = read_past(file)
    assert [answer.rate for answer in found.answers] == [10.0]
    assert found.damaged == 2
    words = (
        "The records of 2 answers are damaged, or a later version of Slipstream wrote them; they are left out of the "
        "speeds."
    )
    assert History.read(file).left_out == words


def test_without_a_store_nothing_is_known(tmp_path: Path) -> None:
    assert read_past(None) == read_past(tmp_path / "none.sqlite") == Past([])


def test_a_store_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("this is no database, and it is long enough to be looked at " * 20)
    with pytest.raises(UnreadableStoreError, match=r"text\.sqlite cannot be read now \(file is not a database\)\."):
        read_past(tmp_path / "text.sqlite")


def test_the_limit_ends_the_reading(file: Path) -> None:
    """Newest first by the key of the table: nothing is sorted, and what lies behind the limit is not looked at."""
    filled(file).close()
    with contextlib.closing(sqlite3.connect(file)) as db:
        steps = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {_QUERY}", (5,))]
    assert not any("TEMP B-TREE" in step or "messages" in step for step in steps), steps
