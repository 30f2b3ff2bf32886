"""The chat in high contrast, in the terminal's own colours, and in none. See test_chat_pictures.py."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat
from tests.app.tui.samples import spelled, streamed

TOKENS = (
    ("The ", "t"), ("**longest**", "l"), (" rivers", "l"), (", see ", "c"), ("`rivers.csv`", "d"), (":\n\n", "d"),
    ("1. ", "l"), ("Volga", "c"), ("\n2. ", "l"), ("Danube", "d"), ("\n\n", "t"),
    ("```python\n", "l"), ("def ", "l"), ("longest", "d"), ("(rivers: dict[str, int]) -> str:\n", "d"),
    ("    return ", "c"), ("max(rivers, key=rivers.get)", "l"), ("  # by length, ", "t"), ("42 of them", "d"),
    ("\n```\n\n", "t"), ("> It rises north-west of Moscow.", "l"),
)  # fmt: skip
CHOICES = [("high-contrast", ""), ("terminal", ""), ("dark", "1")]


@pytest.fixture(params=CHOICES, ids=["high-contrast", "terminal", "no-colour"])
def theme(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name, no_color = request.param
    monkeypatch.setenv("NO_COLOR", no_color)
    return f"slipstream-{name}"


def picture(snap_compare: Any, theme: str, *keys: str) -> bool:
    client = FakeClient([streamed(spelled(*TOKENS))])
    app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=FakeShelf)

    async def run_before(pilot: Pilot[None]) -> None:
        it = Chat(app, pilot, client)
        await it.until(lambda: it.screen.opened and it.screen.answering.state.pair is not None, "the model")
        await it.ask("Which rivers in Europe are the longest?")
        await pilot.press(*keys)
        await it.settle()

    return bool(snap_compare(app, terminal_size=(120, 40), run_before=run_before))


def test_answer(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme)


def test_selected_with_x_ray(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme, "f4", "alt+up")


def test_list_of_commands(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme, "slash", "down")


def test_palette(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme, "ctrl+p", "down")


def test_speculation_switch(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme, "ctrl+t")
