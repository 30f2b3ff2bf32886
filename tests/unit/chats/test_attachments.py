"""Files that were attached to messages are kept with them."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from app.attached import packed
from app.chats import schema
from app.chats.records import Attachment
from app.chats.store import ChatStore

from .conftest import OpenStore, talk


def note(path: str = "notes.txt", text: str = "bread\n") -> Attachment:
    return packed(path, f"/home/you/{path}", text.encode(), 1_700_000_000.25)


def test_they_are_there_again_with_text_hash_size_and_time(store: ChatStore, open_store: OpenStore) -> None:
    chat = store.create_conversation()
    said = store.append_user(chat.id, "look at @notes.txt", parent=None, attached=[note(), note("b.md", "# b")])
    store.close()
    again = open_store()
    kept = again.attachments(chat.id)[said.id]
    assert [(one.path, one.place, one.text, one.size) for one in kept] == [
        ("notes.txt", "/home/you/notes.txt", "bread\n", 6),
        ("b.md", "/home/you/b.md", "# b", 3),
    ]
    assert kept[0].modified == 1_700_000_000.25
    assert kept[0].sha256 == note().sha256
    assert again.message(said.id) == said, "the text is what was said"


def test_they_go_with_a_message_that_is_taken_back(store: ChatStore, file: Path) -> None:
    chat = store.create_conversation()
    said = store.append_user(chat.id, "@notes.txt", parent=None, attached=[note()])
    store.remove_user(said.id)
    assert store.attachments(chat.id) == {}
    with contextlib.closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*) FROM attachments").fetchone() == (0,)


def test_they_survive_a_store_that_is_taken_away(store: ChatStore, file: Path, open_store: OpenStore) -> None:
    chat = store.create_conversation()
    said = store.append_user(chat.id, "@notes.txt", parent=None, attached=[note()])
    store.path(chat.id)
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink(missing_ok=True)
    store.start_answer(chat.id, parent=said.id)
    store.close()
    assert open_store().attachments(chat.id)[said.id][0].text == "bread\n"


def test_they_are_taken_over_from_a_damaged_store(store: ChatStore, file: Path, open_store: OpenStore) -> None:
    chat = store.create_conversation()
    said = store.append_user(chat.id, "@notes.txt", parent=None, attached=[note()])
    store.close()
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 1])
    found = open_store().attachments(chat.id)
    assert found == {} or found[said.id][0].text == "bread\n"
    assert list(file.parent.glob("*.broken-*"))


def test_a_store_of_the_version_before_gets_the_table(file: Path, open_store: OpenStore) -> None:
    file.parent.mkdir()
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, applied REAL NOT NULL)")
        for statement in schema.MIGRATIONS[0]:
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES (1, 0)")
    store = open_store()
    assert store.trouble is None
    chat = store.create_conversation()
    said = store.append_user(chat.id, "@notes.txt", parent=None, attached=[note()])
    assert store.attachments(chat.id)[said.id][0].path == "notes.txt"


class TestSaid:
    def test_this_chat_first_then_the_others_newest_first(self, store: ChatStore) -> None:
        old, here = talk(store, "old one", "a", "old two", "a"), talk(store, "here", "a", "here again", "a")
        newest = talk(store, "newest", "a")
        found = [message.content for number in store.said(here.id) if (message := store.message(number)) is not None]
        assert found == ["here again", "here", "newest", "old two", "old one"]
        assert len(store.said(newest.id, limit=1)) == 2
        assert old.id != here.id

    def test_what_is_only_in_memory_is_found_as_well(self, open_store: OpenStore) -> None:
        store = open_store(None)
        one, other = talk(store, "one"), talk(store, "other")
        found = [message.content for number in store.said(one.id) if (message := store.message(number)) is not None]
        assert found == ["one", "other"]
        assert other.id != one.id
