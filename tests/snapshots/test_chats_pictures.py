"""Pictures of the Chats screen. Look at the report of a failing run before taking new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from tests.app.tui.chats_screen import move_to, opened
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.harness import Chat
from tests.app.tui.stored_chats import NOW, fill

Look = Callable[[Chat], Awaitable[None]]


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.dates.now", lambda: NOW)


@pytest.fixture
def picture(snap_compare: Any, size: tuple[int, int]) -> Callable[..., bool]:
    def take(look: Look, *, theme: str = "dark", empty: bool = False) -> bool:
        store = open_chats(None, lambda notice: None)
        if not empty:
            fill(store)
        client = FakeClient()
        app = SlipstreamApp(client, LOAD, store, theme=f"slipstream-{theme}")

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


async def listed(it: Chat) -> None:
    await move_to(it, await opened(it), "Split a shell")
    await it.settle()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_list(picture: Callable[..., bool], theme: str) -> None:
    assert picture(listed, theme=theme)


def test_search(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await opened(it)
        await it.pilot.press("slash", *"the ")
        await it.sees("of 9")

    assert picture(look)


def test_rename(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await listed(it)
        await it.pilot.press("r")

    assert picture(look)


def test_deleted(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await listed(it)
        await it.pilot.press("delete")
        await it.sees("8 chats")

    assert picture(look)


def test_export(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await listed(it)
        await it.pilot.press("e")

    assert picture(look)


def test_nothing_yet(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await opened(it)

    assert picture(look, empty=True)
