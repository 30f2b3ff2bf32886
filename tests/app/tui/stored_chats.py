"""Stores full of chats, said at times that are written down."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from app.chats.store import ChatStore
from tests.app.tui.fake_client import ends

NOW = datetime(2026, 11, 26, 15, 0)  # a Thursday

VOLGA = "The longest river in Europe is the Volga: 3,530 km from the Valdai Hills to the Caspian Sea."
PARSER = "Use `shlex.split`; it knows quotes:\n\n```python\nimport shlex\nshlex.split('a \"b c\"')\n```"

CHATS: Sequence[tuple[timedelta, Sequence[str]]] = (
    (timedelta(days=400), ("Packing list for Norway", "Layers of wool, and something against rain.")),
    (timedelta(days=70), ("東京の天気はどうですか", "今日は晴れです。明日は雨が降るでしょう。")),
    (
        timedelta(days=40),
        ("Compare B-trees and LSM trees for a chat store", "B-trees read fast, LSM trees write fast."),
    ),
    (timedelta(days=16), ("Names for a cat that answers to nothing", "Null, Mute, or simply Cat.")),
    (timedelta(days=3, hours=2), ("Explain speculative decoding to a ten year old", "A fast friend guesses.")),
    (timedelta(days=2), ("Split a shell command in Python", PARSER, "And on Windows?", "There the rules differ.")),
    (timedelta(days=1, hours=3), ("A toast for Ada's birthday, two sentences", "To Ada, who counts.")),
    (timedelta(hours=4), ("Why is the sky blue, in one paragraph please, with the name of the effect", "Rayleigh.")),
    (timedelta(minutes=3), ("Rivers of Europe", "The Danube passes ten countries.", "And the longest one?", VOLGA)),
)


def say(store: ChatStore, *turns: str, ago: timedelta = timedelta()) -> int:
    """A chat of complete turns, said that long before :data:`NOW`; its id."""
    chat = store.create_conversation()
    parent = None
    for number, text in enumerate(turns):
        if number % 2:
            answer = store.start_answer(chat.id, parent=parent or 0)
            parent = store.finish_answer(answer.id, ends(text)).id
        else:
            parent = store.append_user(chat.id, text, parent=parent).id
    when = (NOW - ago).timestamp()
    change = "UPDATE conversations SET created = ?, updated = ? WHERE id = ?"
    store._keeper.write(lambda db: db.execute(change, (when - 60, when, chat.id)) and None, chat.id)
    return chat.id


def fill(store: ChatStore) -> list[int]:
    """:data:`CHATS`, oldest first; one is pinned. Their ids."""
    ids = [say(store, *turns, ago=ago) for ago, turns in CHATS]
    store.pin(ids[2])
    return ids
