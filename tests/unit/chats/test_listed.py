"""Whole chats: pinned, deleted, brought back, removed for good."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.chats.records import StoreError
from app.chats.store import ChatStore

from .conftest import OpenStore, go_on, talk, texts
from .test_unsaved import limit_pages


def titles(store: ChatStore) -> list[str]:
    return [chat.title for chat in store.conversations()]


@pytest.fixture(params=["file", "memory"])
def any_store(request: pytest.FixtureRequest, open_store: OpenStore) -> ChatStore:
    return open_store(None) if request.param == "memory" else open_store()


def test_pinned_chats_come_first_and_the_newest_opens(any_store: ChatStore) -> None:
    one, two, three = talk(any_store, "one"), talk(any_store, "two"), talk(any_store, "three")
    assert any_store.pin(one.id).pinned
    assert titles(any_store) == ["one", "three", "two"]
    any_store.pin(two.id)
    assert titles(any_store) == ["two", "one", "three"]
    assert [chat.title for chat in any_store.conversations(limit=1, offset=1)] == ["one"]
    assert any_store.newest() == three
    any_store.pin(one.id, False)
    assert titles(any_store) == ["two", "three", "one"]


def test_a_store_in_memory_keeps_more_chats_than_the_copy_does(open_store: OpenStore) -> None:
    store = open_store(None)
    for number in range(20):
        talk(store, f"chat {number}", "answer")
    assert len(store.conversations()) == 20
    assert len(store.search("answer")) == 20


def test_deleting_and_undoing(any_store: ChatStore) -> None:
    one, two = talk(any_store, "one", "answer"), talk(any_store, "two", "answer")
    any_store.delete(one.id)
    assert titles(any_store) == ["two"]
    assert any_store.conversation(one.id) is None
    any_store.delete(two.id)
    assert titles(any_store) == []
    assert any_store.last_conversation() is None

    last = any_store.last_deleted()
    assert last is not None
    assert last.title == "two"
    assert any_store.restore(last.id) == two
    last = any_store.last_deleted()
    assert last is not None
    assert any_store.restore(last.id) == one
    assert any_store.last_deleted() is None
    assert texts(any_store, one) == ["one", "answer"]
    assert titles(any_store) == ["two", "one"]


def test_a_deleted_chat_comes_back_after_a_restart(store: ChatStore, open_store: OpenStore) -> None:
    chat = talk(store, "question", "answer")
    store.delete(chat.id)
    store.close()
    store = open_store()
    assert store.last_conversation() is None
    last = store.last_deleted()
    assert last is not None
    store.restore(last.id)
    assert titles(store) == ["question"]


def test_the_chat_on_screen_of_another_instance_comes_back_with_its_next_message(
    store: ChatStore, open_store: OpenStore
) -> None:
    chat = talk(store, "question", "answer")
    other = open_store()
    other.path(chat.id)
    store.delete(chat.id)
    go_on(other, chat, "thanks")
    assert titles(store) == ["question"]
    assert texts(store, chat) == ["question", "answer", "thanks"]


def test_what_is_open_elsewhere(store: ChatStore, open_store: OpenStore) -> None:
    one, two = talk(store, "one"), talk(store, "two")
    other, third = open_store(), open_store()
    other.mark_open(one.id)
    third.mark_open(two.id)
    assert store.all_open_elsewhere() == {one.id, two.id}
    third.close()
    assert store.all_open_elsewhere() == {one.id}
    assert other.all_open_elsewhere() == {two.id}


def test_long_deleted_chats_are_removed_at_a_start(
    store: ChatStore, file: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, recent, live = talk(store, "old secret", "answer"), talk(store, "recent"), talk(store, "live")
    while store.index_some():
        pass
    store.delete(recent.id)
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr("app.chats.listed.time.time", lambda: now - 31 * 86_400)
        store.delete(old.id)
    store.close()

    store = open_store()
    with closing(sqlite3.connect(file)) as db:
        said = {text for (text,) in db.execute("SELECT content FROM messages")}
        assert said == {"recent", "live"}
        assert db.execute("SELECT count(*) FROM figures").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM unindexed").fetchone() == (0,)
        assert db.execute("SELECT rowid FROM search_index WHERE search_index MATCH 'sec'").fetchall() == []
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    with pytest.raises(StoreError, match="not in the store any more"):
        store.restore(old.id)
    assert store.restore(recent.id).title == "recent"
    assert titles(store) == ["live", "recent"]
    assert live.title == "live"


def test_pinning_and_deleting_while_nothing_can_be_saved(store: ChatStore, open_store: OpenStore) -> None:
    one, two, three = talk(store, "one"), talk(store, "two"), talk(store, "three")
    limit_pages(store, None)
    go_on(store, one, "x" * 50_000, "answer")
    assert store.trouble is not None
    store.pin(two.id)
    store.delete(three.id)
    assert titles(store) == ["two", "one"]
    last = store.last_deleted()
    assert last is not None
    assert last.id == three.id
    newest = store.newest()
    assert newest is not None
    assert newest.id == one.id
    store.restore(three.id)
    assert titles(store) == ["two", "one", "three"]
    assert store.last_deleted() is None
    store.delete(three.id)
    limit_pages(store, 1_000_000)
    store.close()
    assert titles(open_store()) == ["two", "one"]


def test_looking_at_a_chat_does_not_push_the_open_one_out_of_memory(store: ChatStore) -> None:
    chats = [talk(store, f"chat {number}", "answer") for number in range(10)]
    store.path(chats[0].id)
    held = list(store._keeper._held)
    for chat in chats:
        assert [m.content for m in store.peek(chat.id, last=1)] == ["answer"]
        assert len(store.all_messages(chat.id)) == 2
    assert store._keeper._held == held
