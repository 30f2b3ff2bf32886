from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.chats.records import Conversation, Message, Notice
from app.chats.store import ChatStore, open_chats
from engine.protocol import Finished, FinishReason, GenerateSettings, ModelInfo, Receipt, TemplateInfo
from engine.stats import Stats

OpenStore = Callable[..., ChatStore]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.sqlite"


@pytest.fixture
def notices() -> list[Notice]:
    """What the person in front of the screen was told."""
    return []


@pytest.fixture
def open_store(file: Path, notices: list[Notice]) -> Iterator[OpenStore]:
    with contextlib.ExitStack() as stack:

        def open_one(where: Path | None = file) -> ChatStore:
            store = open_chats(where, notices.append)
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: OpenStore) -> ChatStore:
    return open_store()


def talk(store: ChatStore, *turns: str) -> Conversation:
    """A chat of complete turns: user, assistant, user, ..."""
    chat = store.create_conversation()
    go_on(store, chat, *turns)
    found = store.conversation(chat.id)
    assert found is not None
    return found


def go_on(store: ChatStore, chat: Conversation, *turns: str) -> list[Message]:
    shown = list(store.path(chat.id))
    for text in turns:
        parent = shown[-1] if shown else None
        if parent is None or parent.role == "assistant":
            shown.append(store.append_user(chat.id, text, parent=parent.id if parent else None))
        else:
            answer = store.start_answer(chat.id, parent=parent.id)
            shown.append(store.finish_answer(answer.id, finished(text)))
    return shown


def texts(store: ChatStore, chat: Conversation) -> list[str]:
    return [message.content for message in store.path(chat.id)]


def finished(text: str, reason: FinishReason = "stop", **other: Any) -> Finished:
    values: dict[str, Any] = {"token_ids": (5, 6, 7), "sources": "tlc", "stats": Stats(output_tokens=3, accepted=1)}
    return Finished(id=1, finish_reason=reason, text=text, **{**values, "receipt": receipt(), **other})


def receipt() -> Receipt:
    info = ModelInfo(
        path="/m.gguf",
        name="m",
        architecture="llama",
        size_bytes=1,
        fingerprint="f",
        layers=1,
        gpu_layers=0,
        context_trained=64,
        vocabulary=8,
    )
    return Receipt(
        created="2025-01-01T00:00:00Z",
        target=info,
        draft=None,
        template=TemplateInfo(name="model", sha256="0"),
        prompt_ids=(1, 2, 3),
        settings=GenerateSettings(messages=()),
        seed=4,
        drafter="lookup",
        draft_max=8,
        mode="exact settings, untested",
        backend="CPU",
        threads=2,
        context=64,
        prefill_chunk=512,
        versions={"slipstream": "0"},
    )
