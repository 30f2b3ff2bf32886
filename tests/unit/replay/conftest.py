"""A model's file, and a store of chats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from tests.fixtures.random_models import write_random


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_random(tmp_path / "tiny.gguf")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    yield store
    store.close()
