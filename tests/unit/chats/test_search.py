"""Which chats say these words: with an index, without one, and with one that is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.chats import schema, search
from app.chats.matching import fold, marks, snippet, words_of
from app.chats.records import Notice
from app.chats.store import ChatStore

from .conftest import OpenStore, finished, go_on, talk, texts
from .test_unsaved import limit_pages

HOSTILE = [
    '"', "*", "NEAR(", "AND", 'x" OR "y', "col:on", "-", "^a", "(", ")", "'", "%", "_", "\\", ";--", "{a b}", "a*b",
    "\0", "\x1b[2J", "\ud800", "😀", " ", "", "NOT NOT", '""""', "rowid:1", "text : x", "\u0301",
]  # fmt: skip


def indexed(store: ChatStore) -> ChatStore:
    while store.index_some():
        pass
    return store


def found(store: ChatStore, query: str) -> list[str]:
    return [hit.conversation.title for hit in store.search(query)]


@pytest.fixture(params=["index", "no index", "half an index", "memory"])
def any_store(request: pytest.FixtureRequest, open_store: OpenStore) -> ChatStore:
    """A store with two chats of which all, nothing or the first is indexed."""
    store = open_store(None) if request.param == "memory" else open_store()
    talk(store, "Rivers of Europe", "The Danube passes through ten countries.", "And the longest?", "The Volga.")
    if request.param == "half an index":
        indexed(store)
    talk(store, "東京の天気はどうですか", "今日は晴れです。", "Straße, ÉCOLE, naïve", 'print("*") 😀 100%_done')
    if request.param == "index":
        indexed(store)
    return store


class TestWhatIsFound:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("danube", ["Rivers of Europe"]),
            ("DANUBE countries", ["Rivers of Europe"]),
            ("passes thro", ["Rivers of Europe"]),  # the last word is only begun
            ("olga", ["Rivers of Europe"]),  # a part of a word
            ("europe", ["Rivers of Europe"]),
            ("danube volga", []),  # in no one message
            ("天気", ["東京の天気はどうですか"]),
            ("晴", ["東京の天気はどうですか"]),
            ("の天気は", ["東京の天気はどうですか"]),
            ("strasse", ["東京の天気はどうですか"]),
            ("ecole NAIVE", ["東京の天気はどうですか"]),
            ("😀", ["東京の天気はどうですか"]),
            ('("*")', ["東京の天気はどうですか"]),
            ("0%_d", ["東京の天気はどうですか"]),
            ("%", ["東京の天気はどうですか"]),
            ("_", ["東京の天気はどうですか"]),
            ("nothing like that", []),
            ("th", ["Rivers of Europe"]),
        ],
    )
    def test_words(self, any_store: ChatStore, query: str, expected: list[str]) -> None:
        assert found(any_store, query) == expected

    @pytest.mark.parametrize("query", HOSTILE)
    def test_no_query_is_an_error(self, any_store: ChatStore, query: str) -> None:
        any_store.search(query)
        any_store.search(f"{query}danube")
        any_store.search(f"danube {query}")

    def test_a_very_long_query(self, any_store: ChatStore) -> None:
        assert any_store.search("word " * 10_000) == ()
        assert any_store.search("x" * 100_000) == ()

    def test_every_branch_is_searched_and_the_newest_message_named(self, store: ChatStore) -> None:
        chat = talk(store, "question", "first answer")
        question, first = store.path(chat.id)
        again = store.start_answer(chat.id, parent=question.id)
        store.finish_answer(again.id, finished("second answer"))
        for _ in range(2):
            (hit,) = store.search("first")
            assert (hit.message, hit.snippet) == (first.id, "first answer")
            (hit,) = store.search("answer")
            assert hit.message == again.id
            indexed(store)

    def test_the_newest_chats_come_first_and_the_limit_holds(self, store: ChatStore) -> None:
        for number in range(5):
            talk(store, f"same words {number}")
        indexed(store)
        assert [hit.conversation.title for hit in store.search("words", limit=2)] == ["same words 4", "same words 3"]

    def test_a_title_that_was_given(self, any_store: ChatStore) -> None:
        chat = any_store.search("danube")[0].conversation
        any_store.rename(chat.id, "Geography lesson")
        (hit,) = any_store.search("geograph")
        assert (hit.conversation.title, hit.message, hit.snippet) == ("Geography lesson", None, "")

    def test_deleted_chats_are_not_found_until_they_are_back(self, any_store: ChatStore) -> None:
        chat = any_store.search("danube")[0].conversation
        any_store.delete(chat.id)
        assert found(any_store, "danube") == []
        any_store.restore(chat.id)
        assert found(any_store, "danube") == ["Rivers of Europe"]


class TestIndex:
    def test_what_changes_later_is_found_as_it_is(self, store: ChatStore) -> None:
        chat = talk(store, "question")
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        store.checkpoint(answer.id, "half of it")
        indexed(store)
        assert found(store, "half") == ["question"]
        store.finish_answer(answer.id, finished("all of it"))
        indexed(store)
        assert (found(store, "half"), found(store, "all")) == ([], ["question"])

    def test_an_indexed_message_that_goes_on(self, store: ChatStore, file: Path, open_store: OpenStore) -> None:
        """Called interrupted by mistake (a file system without locks), indexed, and then the answer goes on."""
        chat = talk(store, "question")
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        with closing(sqlite3.connect(file)) as db, db:
            db.execute("UPDATE messages SET content = 'half', state = 'interrupted' WHERE id = ?", (answer.id,))
        indexed(store)
        store.checkpoint(answer.id, "whole")
        store.finish_answer(answer.id, finished("whole"))
        indexed(store)
        with closing(sqlite3.connect(file)) as db:
            terms = db.execute("SELECT rowid FROM search_index WHERE search_index MATCH 'hal'").fetchall()
        assert terms == []
        assert found(store, "whole") == ["question"]

    def test_a_message_that_was_taken_back(self, store: ChatStore) -> None:
        chat = talk(store, "question", "answer")
        refused = store.append_user(chat.id, "refused words", parent=chat.leaf)
        indexed(store)
        store.remove_user(refused.id)
        assert found(store, "refused") == []
        indexed(store)
        assert found(store, "refused") == []

    def test_it_is_made_in_small_steps(self, store: ChatStore, monkeypatch: pytest.MonkeyPatch) -> None:
        talk(store, *(f"message {number}" for number in range(7)))
        monkeypatch.setattr(search, "BATCH_MESSAGES", 3)
        assert [store.index_some() for _ in range(4)] == [True, True, False, False]
        monkeypatch.setattr(search, "BATCH_MESSAGES", 100)
        monkeypatch.setattr(search, "BATCH_CHARACTERS", 15)
        talk(store, *(f"more {number}" for number in range(4)))
        assert store.index_some()

    def test_the_index_is_used(self, store: ChatStore) -> None:
        """Only messages that can match are read."""
        for number in range(50):
            talk(store, f"question {number}", "an answer")
        indexed(store)
        read = []
        words = words_of("question 37")

        def says(text: str) -> bool:
            read.append(text)
            return all(word in fold(text) for word in words)

        def count(db: sqlite3.Connection) -> None:
            db.create_function("says", 1, says)
            db.execute(search._FIND.format(among=search._INDEXED), (search._trigrams(words), 100)).fetchall()

        store._keeper.read(count)
        assert read.count("an answer") == 0

    def test_two_instances_share_it(self, store: ChatStore, open_store: OpenStore) -> None:
        other = open_store()
        chat = talk(store, "from the first")
        indexed(other)
        go_on(other, chat, "answered by the second")
        talk(other, "said in the second")
        assert found(store, "second") == ["said in the second", "from the first"]
        indexed(store)
        assert found(other, "second") == ["said in the second", "from the first"]

    def test_it_waits_while_another_program_writes(self, store: ChatStore, file: Path, notices: list[Notice]) -> None:
        talk(store, "question")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert store.index_some() is False
        assert found(store, "question") == ["question"]
        indexed(store)
        assert (store.trouble, notices) == (None, [])


class TestNothingIsLostByIt:
    def test_without_fts5(self, store: ChatStore, monkeypatch: pytest.MonkeyPatch, notices: list[Notice]) -> None:
        monkeypatch.setattr(search, "_CREATE", f"CREATE VIRTUAL TABLE {search.INDEX} USING fts_of_nobody(text)")
        chat = talk(store, "question", "answer")
        assert store.index_some() is False
        assert found(store, "answer") == ["question"]
        assert texts(store, chat) == ["question", "answer"]
        assert (store.trouble, notices) == (None, [])

    def test_an_index_of_a_kind_this_sqlite_does_not_know(
        self, store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
    ) -> None:
        """Made by an SQLite with FTS5, used by one without: chats can be read, written and searched."""
        chat = talk(indexed(store), "question", "answer")
        indexed(store).close()
        with closing(sqlite3.connect(file)) as db, db:
            db.execute("PRAGMA writable_schema = ON")
            db.execute(
                "UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'fts_of_nobody') WHERE name = 'search_index'"
            )
        store = open_store()
        go_on(store, chat, "thanks", "welcome")
        assert found(store, "answer") == found(store, "welcome") == ["question"]
        assert store.index_some() is False
        assert (store.trouble, notices) == (None, [])

    def test_a_damaged_index_is_made_anew(
        self, store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
    ) -> None:
        chat = talk(store, "question", "answer")
        indexed(store).close()
        with closing(sqlite3.connect(file)) as db, db:
            db.execute("UPDATE search_index_data SET block = x'FFFFFFFFFFFFFFFFFFFFFFFF'")
        store = open_store()
        assert found(store, "answer") == ["question"]
        go_on(store, chat, "thanks", "welcome")
        indexed(store)
        assert found(store, "welcome") == ["question"]
        assert texts(open_store(), chat) == ["question", "answer", "thanks", "welcome"]
        assert (store.trouble, notices, list(file.parent.glob("*.broken*"))) == (None, [], [])

    def test_a_salvaged_store_can_be_searched(self, store: ChatStore, file: Path, open_store: OpenStore) -> None:
        for number in range(60):
            talk(store, f"question {number} " + "x" * 500, "answer")
        indexed(store).close()
        whole = file.read_bytes()
        file.write_bytes(whole[:-100])
        store = open_store()
        assert len(store.search("question", limit=100)) >= 50
        indexed(store)
        assert len(store.search("question", limit=100)) >= 50

    def test_what_is_not_saved_is_found(self, store: ChatStore, open_store: OpenStore) -> None:
        chat, other = talk(store, "question", "answer"), talk(store, "other", "answer")
        indexed(store)
        limit_pages(store, None)
        go_on(store, chat, "x" * 50_000, "volga")
        assert store.trouble is not None
        assert store.index_some() is False
        assert found(store, "volga") == ["question"]
        assert found(store, "answer") == ["question", "other"]
        assert store.search("answer", limit=1)[0].conversation.id == chat.id
        limit_pages(store, 1_000_000)
        store.close()
        store = indexed(open_store())
        assert found(store, "volga") == ["question"]
        assert store.conversation(other.id) is not None


class TestMigration:
    def test_a_store_of_version_1_is_indexed(self, file: Path, open_store: OpenStore, notices: list[Notice]) -> None:
        version_1(file)
        store = open_store()
        assert found(store, "danube") == ["Rivers"]
        indexed(store)
        assert found(store, "danube") == ["Rivers"]
        with closing(sqlite3.connect(file)) as db:
            assert schema.version_of(db) == schema.LATEST
            assert db.execute("SELECT count(*) FROM unindexed").fetchone() == (0,)
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        (chat,) = store.conversations()
        assert texts(store, chat) == ["Name a river", "The Danube."]
        assert notices == []

    def test_where_it_cannot_be_migrated_it_can_be_read(
        self, file: Path, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        version_1(file)

        def full(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr("app.chats.keeper.open_disk", full)
        store = open_store()
        (chat,) = store.conversations()
        assert texts(store, chat) == ["Name a river", "The Danube."]
        assert found(store, "danube") == ["Rivers"]
        assert store.last_conversation() == chat
        assert store.last_deleted() is None
        assert store.index_some() is False


def version_1(file: Path) -> None:
    """A store as the first release wrote it."""
    file.parent.mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, applied REAL NOT NULL)")
        for statement in schema.MIGRATIONS[0]:
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES (1, 0)")
        db.execute("INSERT INTO conversations (id, title, created, updated) VALUES (1, 'Rivers', 1, 2)")
        for number, parent, role, text in ((1, None, "user", "Name a river"), (2, 1, "assistant", "The Danube.")):
            db.execute(
                "INSERT INTO messages (id, conversation, parent, role, content, state, created)"
                " VALUES (?, 1, ?, ?, ?, 'complete', 1)",
                (number, parent, role, text),
            )
        db.execute("UPDATE conversations SET leaf = 2")


class TestPlaces:
    def test_marks(self) -> None:
        assert marks("The Danube, the DANUBE", words_of("danube the")) == [(0, 3), (4, 10), (12, 15), (16, 22)]
        assert marks("Straße, École", words_of("strasse ecole")) == [(0, 6), (8, 13)]
        assert marks("E\u0301cole", words_of("ec")) == [(0, 3)]
        assert marks("cafe\u0301!", words_of("cafe")) == [(0, 5)]
        assert marks("nothing", words_of("else")) == []

    def test_a_snippet_is_one_line_around_the_first_word(self) -> None:
        text = "word " * 40 + "the\n\nDanube\tand " + "more " * 100
        line = snippet(text, words_of("danube"))
        assert line.startswith("…word word")
        assert "the Danube and more" in line
        assert line.endswith("…")
        assert len(line) <= 165
        assert snippet("short", words_of("short")) == "short"
        assert snippet("é" * 300 + " x", words_of("x")).endswith("é x")
        assert snippet("x" * 500 + "danube", words_of("danube")) == "…" + "x" * 40 + "danube"
