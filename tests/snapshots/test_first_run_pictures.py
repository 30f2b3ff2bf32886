"""Pictures of the empty chat at the first run. Look at the report of a failing run before taking new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.library.records import Suggestion
from app.tui.app import SlipstreamApp
from app.tui.widgets.first_steps import FirstSteps
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.fake_shelf import QWEN, STARTER, FakeShelf
from tests.app.tui.harness import Chat

Look = Callable[[Chat], Awaitable[None]]
FOUND = Suggestion(STARTER, QWEN, QWEN.size or 0, (("LM Studio", 2), ("Ollama", 1)))


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int]) -> Callable[..., bool]:
    def take(suggested: Suggestion, look: Look) -> bool:
        client, store = FakeClient(), open_chats(None, lambda notice: None)
        shelf = FakeShelf(suggested=suggested)
        app = SlipstreamApp(client, LOAD, store, theme=theme, library=lambda: shelf, first_run=True)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def test_first_run(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.sees("LM Studio 2, Ollama 1")

    assert picture(FOUND, look)


def test_first_run_with_the_list_in_use(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.sees("LM Studio 2, Ollama 1")
        await it.pilot.press("tab", "down")
        await it.until(lambda: it.screen.query_one(FirstSteps).has_focus)

    assert picture(FOUND, look)


def test_first_run_with_nothing_else_to_offer(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.sees("none found")

    assert picture(Suggestion(STARTER, None), look)
