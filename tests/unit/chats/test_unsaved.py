"""The disk says no: the chat goes on in memory, the user is told once, and everything is saved when it can be."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.chats import disk, keeper
from app.chats.records import Notice
from app.chats.store import ChatStore
from app.chats.troubles import not_saved

from .conftest import OpenStore, finished, go_on, talk, texts


def saved(file: Path) -> Notice:
    return Notice(f"saved: everything said meanwhile is in {file} now.", "information")


def limit_pages(store: ChatStore, pages: int | None) -> None:
    """A full disk as SQLite reports it."""
    opened = store._keeper._disk
    assert opened is not None
    (present,) = opened.connection.execute("PRAGMA page_count").fetchone()
    opened.connection.execute(f"PRAGMA max_page_count = {present if pages is None else pages}")


class TestFullDisk:
    def test_the_chat_goes_on_and_is_saved_later(
        self, store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
    ) -> None:
        chat = talk(store, "question", "answer")
        limit_pages(store, None)
        long = "x" * 50_000
        go_on(store, chat, long, long + "answer")

        words = (
            f"not saved: the disk of {file.parent} is full. The chat goes on in memory; it is saved as soon as there "
            "is room."
        )
        assert notices == [Notice(words, "error")]  # once, not with every checkpoint
        assert (store.trouble,) == (words,)
        assert texts(store, chat) == ["question", "answer", long, long + "answer"]
        answer = store.path(chat.id)[-1]
        assert store.figures([answer.id])[answer.id].finish_reason == "stop"
        assert texts(open_store(), chat) == ["question", "answer"]

        limit_pages(store, 1_000_000)
        go_on(store, chat, "thanks")
        assert notices[1:] == [saved(file)]
        assert store.trouble is None
        other = open_store()
        assert texts(other, chat) == ["question", "answer", long, long + "answer", "thanks"]
        assert answer.id in other.figures([answer.id])

    def test_what_is_lost_at_the_end_is_one_sentence(self, store: ChatStore, file: Path) -> None:
        assert store.lost() is None
        limit_pages(store, None)
        chat = talk(store, "a question", "x" * 50_000)
        assert store.trouble is not None
        store.close()
        assert len(store.path(chat.id)) == 2
        assert store.lost() == f'Not saved: 1 message of the chat "a question". The disk of {file.parent} is full.'

    def test_every_call_works_meanwhile(self, store: ChatStore, file: Path, open_store: OpenStore) -> None:
        old, chat = talk(store, "old", "answer"), talk(store, "question")
        limit_pages(store, None)
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        for size in range(1, 4):
            store.checkpoint(answer.id, "x" * 10_000 * size)
        store.fail_answer(answer.id, "The engine stopped.")
        new = talk(store, "a new chat")
        refused = store.append_user(chat.id, "refused", parent=answer.id)
        store.remove_user(refused.id)
        store.rename(chat.id, "renamed")
        assert store.trouble is not None

        assert [c.title for c in store.conversations()] == ["renamed", "a new chat", "old"]
        assert [c.title for c in store.conversations(limit=1, offset=1)] == ["a new chat"]
        assert texts(store, chat) == ["question", "x" * 30_000]
        assert texts(store, old) == ["old", "answer"]
        assert store.siblings(answer.id)[0].state == "failed"

        limit_pages(store, 1_000_000)
        store.close()
        other = open_store()
        assert [c.title for c in other.conversations()] == ["renamed", "a new chat", "old"]
        assert texts(other, chat) == ["question", "x" * 30_000]
        assert texts(other, new) == ["a new chat"]

    def test_a_message_taken_back_meanwhile_does_not_return(self, store: ChatStore, open_store: OpenStore) -> None:
        chat = talk(store, "question", "answer")
        refused = store.append_user(chat.id, "refused", parent=chat.leaf)
        limit_pages(store, None)
        go_on(store, talk(store, "x" * 50_000))
        assert store.trouble is not None
        store.remove_user(refused.id)
        limit_pages(store, 1_000_000)
        store.close()
        other = open_store()
        assert texts(other, chat) == ["question", "answer"]
        assert other.children(other.path(chat.id)[-1].id) == ()


@pytest.mark.skipif(sys.platform == "win32", reason="folder permissions of POSIX")
class TestReadOnlyFolder:
    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        """A folder of root's that this process, for as long as the test runs, cannot write to."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            yield folder
            if os.geteuid() != os.getuid():
                os.seteuid(os.getuid())
            folder.chmod(0o700)

    @staticmethod
    def close_to_writing(folder: Path) -> None:
        folder.chmod(0o555)
        for file in folder.iterdir():
            file.chmod(0o444 if file.is_file() else 0o555)
        if os.getuid() == 0:  # root may write everywhere
            os.seteuid(65534)

    @staticmethod
    def open_to_writing(folder: Path) -> None:
        os.seteuid(os.getuid())
        folder.chmod(0o700)
        for file in folder.iterdir():
            file.chmod(0o600 if file.is_file() else 0o700)

    def test_old_chats_can_be_read_and_new_ones_are_not_saved(
        self, folder: Path, open_store: OpenStore, notices: list[Notice]
    ) -> None:
        file = folder / "chats.sqlite"
        before = open_store(file)
        chat = talk(before, "question", "answer")
        before.close()
        self.close_to_writing(folder)

        store = open_store(file)
        words = (
            f"not saved: {folder} cannot be written to. The chat goes on in memory; make the folder writable, or set "
            "SLIPSTREAM_HOME to another one."
        )
        assert notices == [Notice(words, "error")]
        assert store.trouble == words
        assert store.last_conversation() == chat
        assert texts(store, chat) == ["question", "answer"]
        new = talk(store, "new", "answer")
        go_on(store, chat, "thanks")
        assert [listed.id for listed in store.conversations()] == [chat.id, new.id]
        assert texts(store, chat) == ["question", "answer", "thanks"]
        assert len(notices) == 1

        self.open_to_writing(folder)
        go_on(store, new, "more")
        assert notices[1:] == [saved(file)]
        other = open_store(file)
        assert texts(other, chat) == ["question", "answer", "thanks"]
        assert texts(other, new) == ["new", "answer", "more"]

    def test_an_answer_left_behind_is_interrupted_there_too(self, folder: Path, open_store: OpenStore) -> None:
        file = folder / "chats.sqlite"
        before = open_store(file)
        chat = talk(before, "question")
        before.checkpoint(before.start_answer(chat.id, parent=chat.leaf or 0).id, "half")
        before.close()
        self.close_to_writing(folder)
        assert [m.state for m in open_store(file).path(chat.id)] == ["complete", "interrupted"]

    def test_a_first_start_where_nothing_can_be_written(
        self, folder: Path, open_store: OpenStore, notices: list[Notice]
    ) -> None:
        self.close_to_writing(folder)
        store = open_store(folder / "new" / "chats.sqlite")
        words = (
            f"not saved: The folder {folder / 'new'} cannot be created: permission denied. Set SLIPSTREAM_HOME to a "
            "folder that can be written to."
        )
        assert notices == [Notice(words, "error")]
        assert store.conversations() == ()
        assert texts(store, talk(store, "question", "answer")) == ["question", "answer"]


def test_a_file_where_the_folder_should_be(tmp_path: Path, open_store: OpenStore, notices: list[Notice]) -> None:
    (tmp_path / "data").touch()
    store = open_store()
    talk(store, "question")
    assert [notice.text for notice in notices] == [
        f"not saved: The folder {tmp_path / 'data'} cannot be created: file exists. Set SLIPSTREAM_HOME to a folder "
        "that can be written to."
    ]


def test_a_file_that_another_program_keeps_locked(
    store: ChatStore, file: Path, notices: list[Notice], open_store: OpenStore
) -> None:
    chat = talk(store, "question")
    opened = store._keeper._disk
    assert opened is not None
    opened.connection.execute("PRAGMA busy_timeout = 0")  # the real patience would only make the test slow
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        store.checkpoint(answer.id, "so far")
        assert [notice.text for notice in notices] == [
            f"not saved: another program keeps {file} locked. The chat goes on in memory; it is saved as soon as the "
            "file is free."
        ]
    store.finish_answer(answer.id, finished("so far so good"))
    assert notices[1:] == [saved(file)]
    assert opened.connection.execute("PRAGMA busy_timeout").fetchone() == (disk.PATIENCE * 1000,)
    assert texts(open_store(), chat) == ["question", "so far so good"]


def test_what_is_not_a_store_of_ours(file: Path, open_store: OpenStore, notices: list[Notice]) -> None:
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE conversations (something TEXT)")
        db.execute("INSERT INTO conversations VALUES ('else')")
    store = open_store()
    talk(store, "question")
    (notice,) = notices
    assert notice.text == (
        f"not saved: {file} failed (table conversations already exists). The chat goes on in memory; it is saved as "
        "soon as the file works again."
    )
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT * FROM conversations").fetchall() == [("else",)]


def test_an_unsaved_chat_is_never_dropped_from_memory(store: ChatStore) -> None:
    limit_pages(store, None)
    chats = [talk(store, f"{number} " + "x" * 10_000) for number in range(keeper.HELD * 3)]
    assert store.trouble is not None
    assert [texts(store, chat)[0].split()[0] for chat in chats] == [str(n) for n in range(len(chats))]


def test_any_other_error_is_told_in_its_own_words(file: Path) -> None:
    assert not_saved(sqlite3.OperationalError("disk I/O error"), file) == (
        f"not saved: {file} failed (disk I/O error). The chat goes on in memory; it is saved as soon as the file works "
        "again."
    )
    (file.parent / "folder").mkdir(parents=True, exist_ok=True)
    assert not_saved(sqlite3.OperationalError("unable to open database file"), file.parent / "folder") == (
        f"not saved: {file.parent / 'folder'} is a folder and not a file. The chat goes on in memory; move the folder "
        "away."
    )
    assert "is full" in not_saved(OSError(28, "No space left on device"), file)
    assert "cannot be written to" in not_saved(OSError(30, "Read-only file system"), file)
