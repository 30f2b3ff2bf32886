"""Folders with chats in them, made through the store of the program itself."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from app.chats.store import ChatStore, open_chats
from engine.protocol import Finished
from engine.stats import Stats
from tests.bench.ui.texts import WORDS

LAST_WORDS: Final = "halibut"
"""What the long chat ends with: a word that nothing else holds."""
LAST_CHAT: Final = "pelican"
"""The same of the chat that is open at the start."""


def fill(home: Path, *, chats: int, messages: int) -> None:
    """A store with ``chats`` chats of four messages each, one of ``messages`` that is the newest but one, and a short
    one that opens at the start."""
    store = open_chats(home / "chats.sqlite", lambda notice: None)
    chance = random.Random(1)
    try:
        for _ in range(chats - 2):
            _chat(store, chance, 4)
        _chat(store, chance, messages, LAST_WORDS)
        _chat(store, chance, 2, LAST_CHAT)
        while store.index_some():
            pass  # what the first look at the list would begin
    finally:
        store.close()


def _chat(store: ChatStore, chance: random.Random, messages: int, last_words: str = "") -> None:
    chat, parent = store.create_conversation(), None
    for number in range(messages):
        text = " ".join(chance.choices(WORDS, k=60 if number % 2 else 12))
        if number == messages - 1:
            text += f" {last_words}"
        if number % 2 and parent is not None:
            answer = store.start_answer(chat.id, parent=parent)
            parent = store.finish_answer(answer.id, _finished(text)).id
        else:
            parent = store.append_user(chat.id, text, parent=parent).id


def _finished(text: str) -> Finished:
    tokens = len(text) // 4
    return Finished(
        id=0,
        finish_reason="stop",
        text=text,
        token_ids=tuple(range(tokens)),
        sources="t" * tokens,
        stats=Stats(output_tokens=tokens, target_passes=tokens, decode_tokens_per_second=40.0, total_seconds=2.0),
        receipt=None,
    )
