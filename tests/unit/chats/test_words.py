from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.store import ChatStore, open_chats
from app.chats.words import TITLE_LENGTH, storable, title_from

from .conftest import finished, talk, texts


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("plain", "plain"),
        ("a\0b", "a\0b"),
        ("\x1b[31mred\u202e", "\x1b[31mred\u202e"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d", "\ufffd"),
        ("a\ude00\ud83db", "a\ufffd\ufffdb"),
    ],
)
def test_what_utf8_can_hold_is_kept(store: ChatStore, said: str, kept: str) -> None:
    assert storable(said) == kept
    chat = talk(store, said)
    answer = store.start_answer(chat.id, parent=chat.leaf or 0)
    store.checkpoint(answer.id, said + "!")
    assert texts(store, chat) == [kept, kept + "!"]
    store.fail_answer(answer.id, said, text=said)
    assert [m.error for m in store.path(chat.id)] == [None, kept]
    assert store.conversations()[0].id == chat.id


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=40))
def test_any_text_can_be_said(text: str) -> None:
    store = open_chats(None, print)
    chat = talk(store, text)
    store.finish_answer(store.start_answer(chat.id, parent=chat.leaf or 0).id, finished(storable(text)))
    assert texts(store, chat) == [storable(text)] * 2
    assert chat.title
    assert len(chat.title) <= TITLE_LENGTH


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Name three rivers", "Name three rivers"),
        ("\n  ```\n\tdef  f():\n", "def f():"),
        ("a\x1b[31m\0b", "a [31m b"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("漢" * 80, "漢" * 59 + "…"),
        ("?!", "?!"),
        ("", "New chat"),
        (" \n ", "New chat"),
    ],
)
def test_titles(said: str, title: str) -> None:
    assert title_from(said) == title
