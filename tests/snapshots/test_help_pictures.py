"""Pictures of the help screen. See test_chat_pictures.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app import paths
from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from app.tui.screens.help import HelpScreen
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat


@pytest.fixture(params=[(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture(autouse=True)
def same_file_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "settings_file", lambda: Path("~/.config/slipstream/settings.toml"))


def picture(snap_compare: Any, theme: str, size: tuple[int, int], *keys: str) -> bool:
    client = FakeClient()
    app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=FakeShelf)

    async def run_before(pilot: Pilot[None]) -> None:
        it = Chat(app, pilot, client)
        await it.until(lambda: it.screen.opened and it.screen.answering.state.pair is not None, "the model")
        await pilot.press("f1")
        await it.until(lambda: isinstance(app.screen, HelpScreen), "the help")
        await pilot.press(*keys)
        await it.settle()

    return bool(snap_compare(app, terminal_size=size, run_before=run_before))


def test_help(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert picture(snap_compare, theme, size)


def test_help_narrowed_down(snap_compare: Any, theme: str) -> None:
    assert picture(snap_compare, theme, (120, 40), *"receipt")
