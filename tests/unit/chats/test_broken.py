"""A store that cannot be read is moved aside and said to be; one of the future is left alone."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.chats import schema
from app.chats.records import Notice
from app.chats.store import ChatStore

from .conftest import OpenStore, go_on, talk, texts


def copies(file: Path) -> list[Path]:
    return [found for found in sorted(file.parent.glob("chats.sqlite.broken-*")) if not found.name.endswith("-wal")]


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x00" * 8192, b"SQLite format 3\x00" + b"\xff" * 4080])
def test_garbage_is_moved_aside(file: Path, open_store: OpenStore, notices: list[Notice], content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    store = open_store()
    (copy,) = copies(file)
    assert re.fullmatch(r"chats\.sqlite\.broken-\d{8}-\d{6}", copy.name)
    assert copy.read_bytes() == content
    assert notices == [
        Notice(
            f"The chat store could not be read. It was moved to {copy} and a new one was begun. "
            "No chat could be taken over; nothing in that file was changed.",
            "error",
        )
    ]
    chat = talk(store, "goes on")
    assert texts(open_store(), chat) == ["goes on"]
    assert len(notices) == 1


def test_two_broken_stores_in_one_second(file: Path, open_store: OpenStore) -> None:
    file.parent.mkdir()
    for content in (b"one", b"two"):
        file.write_bytes(content)
        open_store().close()
        file.unlink()
    assert sorted(copy.read_bytes() for copy in copies(file)) == [b"one", b"two"]


@pytest.mark.parametrize("cut", [1, 100, 5000, 20000])
def test_a_truncated_store_is_salvaged(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice], cut: int
) -> None:
    chats = [talk(store, f"question {number} " + "x" * 500, "answer") for number in range(60)]
    store.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])

    store = open_store()
    (copy,) = copies(file)
    assert copy.read_bytes() == whole[:-cut]
    (notice,) = notices
    assert notice.severity == "error"
    told = re.fullmatch(
        rf"The chat store could not be read\. It was moved to {re.escape(str(copy))} and a new one was begun\. "
        r"(\d+) chats with (\d+) messages could be taken over; if something is missing, it is in that file\.",
        notice.text,
    )
    assert told is not None
    assert int(told[1]) >= 50
    listed = store.conversations(limit=100)
    assert len(listed) == int(told[1])
    for chat in listed:
        assert texts(store, chat)
    assert chats[0].id in {chat.id for chat in listed}
    talk(store, "goes on")


def test_damage_that_shows_while_reading(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    """The start reads only a few pages; the damaged one shows up later, and the chat goes on all the same."""
    for number in range(60):
        talk(store, f"old {number} " + "x" * 900, "answer")
    last = talk(store, "newest", "answer")
    store.close()
    content = bytearray(file.read_bytes())
    middle = content.index(b"old 30 ")
    page = middle // 4096 * 4096
    content[page : page + 4096] = b"\xff" * 4096
    file.write_bytes(content)

    store = open_store()
    assert texts(store, last) == ["newest", "answer"]
    assert notices == []
    for chat in store.conversations(limit=100):
        store.path(chat.id)
    (notice,) = notices
    assert str(copies(file)[0]) in notice.text
    go_on(store, last, "goes on")
    assert texts(open_store(), last) == ["newest", "answer", "goes on"]
    assert len(store.conversations(limit=100)) >= 55
    assert store.trouble is None


def test_damage_that_shows_while_writing(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    chat = talk(store, "question", "answer")
    store.close()
    with closing(sqlite3.connect(file)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'messages_parent'").fetchone()
    content = bytearray(file.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    file.write_bytes(content)

    store = open_store()
    assert texts(store, chat) == ["question", "answer"]
    assert notices == []
    go_on(store, chat, "second question", "second answer")
    (notice,) = notices
    assert "1 chat with 2 messages could be taken over" in notice.text
    assert copies(file)[0].exists()
    assert texts(open_store(), chat) == ["question", "answer", "second question", "second answer"]
    assert store.trouble is None


@pytest.mark.parametrize("left", [0, 4096])
def test_a_store_cut_short_while_open(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice], left: int
) -> None:
    chat = talk(store, "question", "answer")
    store.close()  # moves everything from the log into the file
    store = open_store()
    assert texts(store, chat) == ["question", "answer"]
    with file.open("r+b") as raw:
        raw.truncate(left)
    go_on(store, chat, "second question", "second answer")
    assert len(notices) == 1
    assert str(copies(file)[0]) in notices[0].text
    assert texts(open_store(), chat) == ["question", "answer", "second question", "second answer"]
    assert store.trouble is None


def test_messages_without_their_chat_are_kept(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    talk(store, "question", "answer", "thanks")
    store.close()
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("DELETE FROM conversations")
        db.execute("DELETE FROM messages WHERE content = 'answer'")
        db.execute("UPDATE messages SET state = 'writing' WHERE content = 'thanks'")
    with file.open("r+b") as raw:  # damage only the page count, so that the store counts as truncated
        raw.seek(28)
        raw.write((10_000).to_bytes(4, "big"))
    store = open_store()
    (chat,) = store.conversations()
    assert chat.title == "question"
    assert "1 chat with 2 messages could be taken over" in notices[0].text
    assert texts(store, chat) == ["thanks"]
    first, last = store.siblings(store.path(chat.id)[-1].id)
    assert (first.content, last.content, last.state) == ("question", "thanks", "interrupted")


def test_a_store_from_a_newer_version_is_left_alone(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    talk(store, "question")
    store.close()
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO migrations VALUES (?, 0)", (schema.LATEST + 1,))
    before = file.read_bytes()

    store = open_store()
    expected = (
        f"not saved: {file} was written by a newer Slipstream (its version is {schema.LATEST + 1}, this program knows "
        f"{schema.LATEST}) and was left as it is. Update Slipstream to see those chats, or set SLIPSTREAM_HOME to "
        "another folder."
    )
    assert notices == [Notice(expected, "error")]
    assert store.trouble == expected
    chat = talk(store, "in memory", "answer")
    assert texts(store, chat) == ["in memory", "answer"]
    assert store.conversations() == (chat,)
    store.close()
    assert file.read_bytes() == before
    assert len(notices) == 1


def test_a_migration_that_fails_leaves_the_version_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.migrate(db)
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE extra (a)", "nonsense")))
        monkeypatch.setattr(schema, "LATEST", schema.LATEST + 1)
        with pytest.raises(sqlite3.OperationalError, match="nonsense"):
            schema.migrate(db)
        assert schema.version_of(db) == schema.LATEST - 1
        assert db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'extra'").fetchone() is None
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:-1], ("CREATE TABLE extra (a)",)))
        schema.migrate(db)
        schema.migrate(db)
        assert schema.version_of(db) == schema.LATEST
