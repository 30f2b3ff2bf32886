"""The store's files are taken away while they are open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.chats.records import Notice
from app.chats.store import ChatStore

from .conftest import OpenStore, finished, go_on, talk, texts

SIDE_FILES = ("chats.sqlite-wal", "chats.sqlite-shm")


def removed(file: Path) -> Notice:
    return Notice(
        f"The chat store {file} was removed while it was open. What is open here was written to the new one; "
        "other chats were in the old one."
    )


def test_a_removed_store_is_made_anew_with_the_open_chat(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    for number in range(5):  # more chats than are held in memory
        talk(store, f"older {number}", "answer")
    chat = talk(store, "question", "answer")
    receipt_of = store.path(chat.id)[-1].id
    file.unlink()

    go_on(store, chat, "second question", "second answer")
    assert notices == [removed(file)]
    assert store.trouble is None
    other = open_store()
    assert texts(other, chat) == ["question", "answer", "second question", "second answer"]
    assert receipt_of in other.figures([receipt_of])
    assert other.last_conversation() == store.conversation(chat.id)
    assert "older 0" not in {listed.title for listed in other.conversations()}


def test_a_removed_folder_in_mid_answer(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    chat = talk(store, "question")
    answer = store.start_answer(chat.id, parent=chat.leaf or 0)
    store.checkpoint(answer.id, "half")
    shutil.rmtree(file.parent)
    store.checkpoint(answer.id, "half an")
    assert notices == [removed(file)]
    assert [m.state for m in open_store().path(chat.id)] == ["complete", "writing"]  # the new lock is known
    store.finish_answer(answer.id, finished("half an answer"))
    assert texts(open_store(), chat) == ["question", "half an answer"]


def test_a_store_that_another_instance_made_anew_gets_our_chat(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    chat = talk(store, "question")
    for name in (file.name, *SIDE_FILES):
        file.with_name(name).unlink()
    theirs = talk(open_store(), "from the other instance")
    go_on(store, chat, "answer")
    assert notices == [
        Notice(
            f"The chat store {file} was replaced by another one while it was open. What is open here was written to "
            "the present one; other chats were in the old one."
        )
    ]
    assert {listed.id for listed in open_store().conversations()} == {chat.id, theirs.id}
    assert texts(open_store(), chat) == ["question", "answer"]


@pytest.mark.parametrize("gone", [SIDE_FILES[:1], SIDE_FILES[1:], SIDE_FILES])
def test_removed_side_files_lose_nothing(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice], gone: tuple[str, ...]
) -> None:
    older, chat = talk(store, "older"), talk(store, "question")
    for name in gone:
        file.with_name(name).unlink()
    go_on(store, chat, "answer")
    other = open_store()
    assert texts(other, chat) == ["question", "answer"]
    assert texts(other, older) == ["older"]
    assert notices == []


def test_an_answer_another_instance_finished_is_not_set_back(
    store: ChatStore, file: Path, open_store: OpenStore
) -> None:
    """Our copy of their unfinished answer must not overwrite the finished one when the file is mended."""
    chat = talk(store, "question")
    other = open_store()
    answer = other.start_answer(chat.id, parent=chat.leaf or 0)
    assert texts(store, chat) == ["question", ""]
    other.finish_answer(answer.id, finished("the whole answer"))
    file.with_name(SIDE_FILES[1]).unlink()
    store.append_user(chat.id, "thanks", parent=answer.id)
    assert texts(open_store(), chat) == ["question", "the whole answer", "thanks"]
