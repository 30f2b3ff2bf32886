from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.chats.store import ChatStore
from app.tui import clipboard, keymap
from tests.app.tui.harness import memory_store
from tests.app.tui.stored_chats import NOW, fill


@pytest.fixture(autouse=True)
def no_clipboard_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test copies stays off the clipboard of whoever runs it."""
    monkeypatch.setattr(clipboard, "local_tool", lambda: None)


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else runs on this machine is in no comparison."""
    monkeypatch.setattr("app.compare.neighbours.busy_seconds", lambda proc: None)


@pytest.fixture
def thursday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are drawn for the day on which the chats of :mod:`tests.app.tui.stored_chats` were said."""
    monkeypatch.setattr("app.tui.dates.now", lambda: NOW)


@pytest.fixture
def store() -> ChatStore:
    """A store with these chats in it."""
    store = memory_store()
    fill(store)
    return store


@pytest.fixture(autouse=True)
def default_keys() -> Iterator[None]:
    """Keys that a test gives are gone behind it."""
    yield
    keymap.use(keymap.KeyMap())
