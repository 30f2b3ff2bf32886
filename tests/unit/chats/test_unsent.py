"""Text that was typed and not sent."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from app.chats.records import Unsent
from app.chats.store import ChatStore

from .conftest import OpenStore, talk
from .processes import another_instance, hear

PASTE = "a large paste " * 70_000
DRAFT = Unsent(("see ", 1, " and tell"), {1: PASTE})

TYPING = """
from app.chats.records import Unsent
chat_id = int(sys.stdin.readline())
store.keep_unsent(chat_id, Unsent(("half a sent",)))
say("kept")
wait()
"""


def rows(file: Path) -> dict[str, object]:
    with contextlib.closing(sqlite3.connect(file)) as db:
        return dict(db.execute("SELECT key, value FROM meta WHERE key LIKE 'unsent:%'").fetchall())


def test_it_is_there_again_in_the_next_run(store: ChatStore, open_store: OpenStore) -> None:
    one, other = talk(store, "one"), talk(store, "other")
    store.keep_unsent(one.id, DRAFT)
    store.keep_unsent(other.id, Unsent(("other text",)))
    store.close()
    again = open_store()
    assert again.unsent(one.id) == DRAFT
    assert again.unsent(other.id).text == "other text"
    assert again.unsent(talk(again, "third").id) == Unsent()
    again.close()
    third = open_store()
    assert third.unsent(one.id).text == f"see {PASTE} and tell", "taken over by one instance and left by it, too"


def test_a_paste_is_written_once(store: ChatStore, file: Path) -> None:
    chat = talk(store, "one")
    store.keep_unsent(chat.id, DRAFT)
    written: list[str] = []
    disk = store._keeper._disk
    assert disk is not None
    disk.connection.set_trace_callback(written.append)
    store.keep_unsent(chat.id, Unsent((*DRAFT.parts, "!"), DRAFT.pastes))
    disk.connection.set_trace_callback(None)
    assert any("INSERT INTO meta" in statement for statement in written)
    assert all(len(statement) < 10_000 for statement in written)
    store.keep_unsent(chat.id, Unsent(("without it",)))
    assert len(rows(file)) == 1


def test_what_is_sent_is_no_longer_unsent(store: ChatStore, file: Path, open_store: OpenStore) -> None:
    chat = talk(store, "one", "answer")
    store.keep_unsent(chat.id, DRAFT)
    store.append_user(chat.id, "sent", parent=store.path(chat.id)[-1].id)
    assert rows(file) == {}
    store.keep_unsent(chat.id, Unsent(("next",)))
    store.keep_unsent(chat.id, Unsent())
    assert rows(file) == {}
    store.close()
    assert open_store().unsent(chat.id) == Unsent()


def test_a_killed_instance_leaves_its_text_and_a_live_one_keeps_it(
    store: ChatStore, file: Path, open_store: OpenStore
) -> None:
    chat = talk(store, "shared")
    with another_instance(file, TYPING) as process:
        assert process.stdin is not None
        process.stdin.write(f"{chat.id}\n")
        process.stdin.flush()
        assert hear(process) == "kept"
        assert store.unsent(chat.id) == Unsent(), "somebody is typing that"
        store.keep_unsent(chat.id, Unsent(("my own",)))
        assert store.unsent(chat.id).text == "my own"
        assert len(rows(file)) == 2
    store.keep_unsent(chat.id, Unsent())
    assert store.unsent(chat.id).text == "half a sent", "killed with signal 9"
    assert len(rows(file)) == 1


def test_it_is_saved_later_when_the_disk_says_no(store: ChatStore, file: Path, open_store: OpenStore) -> None:
    chat = talk(store, "one", "answer")
    store.keep_unsent(chat.id, Unsent(("old",)))
    disk = store._keeper._disk
    assert disk is not None
    disk.connection.execute("PRAGMA query_only = ON")
    store.keep_unsent(chat.id, Unsent(("new",)))
    assert store.trouble is not None
    store.append_user(chat.id, "new", parent=store.path(chat.id)[-1].id)
    disk.connection.execute("PRAGMA query_only = OFF")
    store.rename(chat.id, "saved now")
    assert store.trouble is None
    store.close()
    assert open_store().unsent(chat.id) == Unsent(), "it was sent meanwhile"


def test_what_cannot_be_read_counts_as_nothing(store: ChatStore, file: Path, open_store: OpenStore) -> None:
    chat = talk(store, "one")
    store.close()
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("INSERT INTO meta VALUES (?, ?)", (f"unsent:{chat.id}:gone", "no json"))
        db.execute("INSERT INTO meta VALUES (?, ?)", (f"unsent:{chat.id}:lost", '[5, ["a ", 3, "b"]]'))
        db.commit()
    assert open_store().unsent(chat.id).text == "a b"


def test_two_texts_below_each_other_keep_their_pastes() -> None:
    first, second = Unsent(("a ", 1), {1: "X"}), Unsent((1, " b"), {1: "Y"})
    assert first.above(second).text == "a X\nY b"
    assert first.above(Unsent()) == first
    assert Unsent().above(second) == second
    assert first.above(first).pastes == {1: "X"}
