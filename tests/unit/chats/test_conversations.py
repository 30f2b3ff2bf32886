from __future__ import annotations

from dataclasses import replace

import pytest

from app.chats.proof import ALTERED
from app.chats.records import StoreError
from app.chats.seal import doubts, sealed
from app.chats.store import ChatStore
from engine.stats import Stats

from .conftest import OpenStore, finished, go_on, receipt, talk, texts


class TestList:
    def test_an_empty_store_has_nothing_to_open(self, store: ChatStore) -> None:
        assert store.conversations() == ()
        assert store.last_conversation() is None

    def test_newest_first_with_a_limit(self, store: ChatStore) -> None:
        first, second, third = talk(store, "one"), talk(store, "two"), talk(store, "three")
        go_on(store, first, "answer to one")

        assert [chat.id for chat in store.conversations()] == [first.id, third.id, second.id]
        assert [chat.title for chat in store.conversations(limit=1, offset=1)] == ["three"]

    def test_a_chat_is_listed_once_something_was_said(self, store: ChatStore) -> None:
        chat = store.create_conversation()
        assert (chat.title, chat.leaf) == ("New chat", None)
        assert store.conversations() == ()
        store.append_user(chat.id, "hello", parent=None)
        assert [listed.id for listed in store.conversations()] == [chat.id]

    def test_the_last_one_open_opens_again(self, store: ChatStore, open_store: OpenStore) -> None:
        old, new = talk(store, "old"), talk(store, "new")
        assert store.last_conversation() == store.conversation(new.id)
        store.mark_open(old.id)
        store.close()
        last = open_store().last_conversation()
        assert last is not None
        assert last.id == old.id

    def test_title_and_settings(self, store: ChatStore, open_store: OpenStore) -> None:
        chat = store.create_conversation({"temperature": 0})
        store.append_user(chat.id, "hello", parent=None)
        store.rename(chat.id, "A \ud800 name")
        store.save_settings(chat.id, {"seed": 3})
        store.append_user(chat.id, "more", parent=store.path(chat.id)[-1].id)

        found = open_store().conversation(chat.id)
        assert found is not None
        assert (found.title, found.settings) == ("A \ufffd name", {"seed": 3})

    def test_unknown_ids(self, store: ChatStore) -> None:
        assert store.conversation(1) is None
        assert store.message(1) is None
        with pytest.raises(StoreError, match="This chat is not in the store any more"):
            store.path(1)
        with pytest.raises(StoreError, match="This chat is not in the store any more"):
            store.append_user(1, "hello", parent=None)
        with pytest.raises(StoreError, match="This message is not in the store any more"):
            store.checkpoint(1, "text")


class TestTree:
    def test_turns_come_back_in_order(self, store: ChatStore, open_store: OpenStore) -> None:
        chat = talk(store, "a", "b", "c", "d")
        shown = open_store().path(chat.id)
        assert [(m.role, m.content, m.state) for m in shown] == [
            ("user", "a", "complete"),
            ("assistant", "b", "complete"),
            ("user", "c", "complete"),
            ("assistant", "d", "complete"),
        ]
        assert [m.parent for m in shown] == [None, *(m.id for m in shown[:-1])]
        assert [m.content for m in store.path(chat.id, last=2)] == ["c", "d"]

    def test_a_regenerated_answer_is_a_sibling(self, store: ChatStore) -> None:
        chat = talk(store, "question", "first answer", "thanks", "welcome")
        question, first, *_ = store.path(chat.id)
        again = store.start_answer(chat.id, parent=question.id)
        store.finish_answer(again.id, finished("second answer"))

        assert texts(store, chat) == ["question", "second answer"]
        assert [m.content for m in store.siblings(again.id)] == ["first answer", "second answer"]
        assert [m.id for m in store.children(question.id)] == [first.id, again.id]
        assert [m.content for m in store.switch_leaf(first.id)] == ["question", "first answer", "thanks", "welcome"]
        assert texts(store, chat) == ["question", "first answer", "thanks", "welcome"]

    def test_an_answer_that_goes_on_begins_with_the_text_of_the_one_before(self, store: ChatStore) -> None:
        chat = talk(store, "question", "half an")
        question, half = store.path(chat.id)
        again = store.start_answer(chat.id, parent=question.id, text=half.content)
        assert (again.state, again.content) == ("writing", "half an")
        assert store.message(again.id) == again
        store.finish_answer(again.id, finished("half an answer"))
        assert [m.content for m in store.siblings(half.id)] == ["half an", "half an answer"]

    def test_variants_are_counted_for_the_whole_path_at_once(self, store: ChatStore) -> None:
        chat = talk(store, "question", "first", "thanks", "welcome")
        question, first, thanks, welcome = store.path(chat.id)
        assert store.variants(chat.id) == {}
        second = store.start_answer(chat.id, parent=question.id)
        assert store.variants(chat.id) == {second.id: (2, 2)}
        edited = store.append_user(chat.id, "better question", parent=None)
        assert store.variants(chat.id) == {edited.id: (2, 2)}
        store.switch_leaf(first.id)
        store.start_answer(chat.id, parent=thanks.id)
        store.start_answer(chat.id, parent=thanks.id)
        store.switch_leaf(welcome.id)
        assert store.variants(chat.id) == {question.id: (1, 2), first.id: (1, 2), welcome.id: (1, 3)}

    def test_variants_of_one_chat_are_not_those_of_another(self, store: ChatStore) -> None:
        here = talk(store, "here")
        talk(store, "there")
        assert store.variants(here.id) == {}

    def test_an_edited_first_message_is_a_sibling_of_the_first(self, store: ChatStore) -> None:
        chat = talk(store, "question", "answer")
        edited = store.append_user(chat.id, "better question", parent=None)
        assert [m.content for m in store.siblings(edited.id)] == ["question", "better question"]
        assert texts(store, chat) == ["better question"]
        found = store.conversation(chat.id)
        assert found is not None
        assert found.title == "question"

    def test_a_parent_of_another_chat_is_refused(self, store: ChatStore) -> None:
        here, there = talk(store, "here"), talk(store, "there")
        with pytest.raises(StoreError, match="cannot answer one of another chat"):
            store.append_user(here.id, "lost", parent=there.leaf)


class TestTakingBack:
    def test_the_text_comes_back_and_the_chat_is_as_before(self, store: ChatStore, open_store: OpenStore) -> None:
        chat = talk(store, "question", "answer")
        refused = store.append_user(chat.id, "far too long", parent=store.path(chat.id)[-1].id)
        assert store.remove_user(refused.id) == "far too long"
        assert texts(store, chat) == ["question", "answer"]
        assert texts(open_store(), chat) == ["question", "answer"]

    def test_the_first_message_takes_its_title_along(self, store: ChatStore) -> None:
        chat = store.create_conversation()
        refused = store.append_user(chat.id, "far too long", parent=None)
        store.remove_user(refused.id)
        assert store.conversations() == ()
        store.append_user(chat.id, "shorter", parent=None)
        assert [listed.title for listed in store.conversations()] == ["shorter"]

    def test_an_answered_message_and_an_answer_stay(self, store: ChatStore) -> None:
        question, answer = store.path(talk(store, "question", "answer").id)
        with pytest.raises(StoreError, match="was answered already"):
            store.remove_user(question.id)
        with pytest.raises(StoreError, match="Only a message of the user"):
            store.remove_user(answer.id)


class TestAnswers:
    def test_text_grows_by_checkpoints(self, store: ChatStore, open_store: OpenStore) -> None:
        chat = talk(store, "question")
        assert chat.leaf is not None
        answer = store.start_answer(chat.id, parent=chat.leaf)
        other = open_store()
        for text in ("a", "a b", "a b", "a b c"):
            store.checkpoint(answer.id, text)
            assert texts(other, chat) == ["question", text]
        assert other.path(chat.id)[-1].state == "writing"

    def test_figures_and_receipt_are_kept(self, store: ChatStore, open_store: OpenStore) -> None:
        answer = store.path(talk(store, "question", "answer").id)[-1]
        kept = open_store().figures([answer.id, 1])
        assert list(kept) == [answer.id]
        figures = kept[answer.id]
        assert (figures.finish_reason, figures.token_ids, figures.sources) == ("stop", (5, 6, 7), "tlc")
        assert figures.stats() == Stats(output_tokens=3, accepted=1)
        assert figures.receipt() == sealed(receipt(), figures, "answer")
        assert figures.receipt_json is not None
        assert doubts(figures, "answer") == ()
        assert doubts(replace(figures, token_ids=(5, 6, 8)), "answer") == (ALTERED,)
        assert answer.finished is not None

    def test_figures_of_another_version_do_not_break_a_chat(self, store: ChatStore) -> None:
        answer = store.path(talk(store, "question", "answer").id)[-1]
        figures = store.figures([answer.id])[answer.id]
        other = replace(figures, stats_json='{"output_tokens": "many"}', receipt_json='{"version": 99}')
        assert other.stats() is None
        assert other.receipt() is None

    def test_a_cancelled_answer_keeps_its_text(self, store: ChatStore) -> None:
        chat = talk(store, "question")
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        ended = store.finish_answer(answer.id, finished("half an ans", "cancelled", receipt=None))
        assert (ended.state, ended.content) == ("cancelled", "half an ans")
        assert store.message(answer.id) == ended
        assert store.figures([answer.id])[answer.id].receipt() is None

    @pytest.mark.parametrize(("given", "kept"), [(None, "half"), ("half an ans", "half an ans")])
    def test_a_failed_answer_keeps_text_and_words(self, store: ChatStore, given: str | None, kept: str) -> None:
        chat = talk(store, "question")
        answer = store.start_answer(chat.id, parent=chat.leaf or 0)
        store.checkpoint(answer.id, "half")
        ended = store.fail_answer(answer.id, "The engine stopped (signal 9).", text=given)
        assert store.message(answer.id) == ended
        assert (ended.state, ended.content, ended.error) == ("failed", kept, "The engine stopped (signal 9).")

    def test_a_late_checkpoint_does_not_reopen_an_answer(self, store: ChatStore) -> None:
        answer = store.path(talk(store, "question", "whole answer").id)[-1]
        store.checkpoint(answer.id, "whole ans")
        assert store.message(answer.id) == answer


def test_a_store_that_keeps_nothing_does_everything_else(open_store: OpenStore) -> None:
    store = open_store(None)
    chat = talk(store, "question", "answer")
    assert texts(store, chat) == ["question", "answer"]
    assert store.conversations() == (chat,)
    assert store.last_conversation() == chat
    assert store.trouble is None
    assert store.file is None
