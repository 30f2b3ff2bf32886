"""Pictures of the settings of a chat. Look at the report of a failing run before taking new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.by_name import ByName
from app.chats.store import open_chats
from app.presets import BUILT_IN
from app.system_prompts import SystemPrompts
from app.tui.app import SlipstreamApp
from app.tui.screens.settings import SettingsScreen
from app.tui.widgets.choices import Choices
from app.tui.widgets.value_box import ValueBox
from engine.protocol import GenerateSettings, Sampling
from tests.app.tui.fake_client import LOAD, FakeClient, answer
from tests.app.tui.harness import Chat
from tests.app.tui.test_settings_screen import move_to, opened, typed

Look = Callable[[Chat, SettingsScreen], Awaitable[None]]
DEFAULTS = GenerateSettings(messages=(), max_tokens=2000, sampling=Sampling(repeat_penalty=1.05))
PROMPTS = {
    "brief": "Answer in one or two sentences. No lists.",
    "proofreader": "Correct spelling and grammar. Change nothing else.\nAnswer with the corrected text only.",
    "teacher": "Explain step by step, ask one question at the end, and never give the whole solution away.",
}


@pytest.fixture(params=[(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int], tmp_path: Path) -> Callable[[Look], bool]:
    def take(look: Look) -> bool:
        client = FakeClient([answer("The Volga.")])
        presets = {**BUILT_IN, "wild": {"temperature": 1.3, "min_p": 0.08, "xtc_probability": 0.3}}
        origins = {"max_tokens": "settings.toml", "repeat_penalty": "settings.toml"}
        by_name = ByName(presets, SystemPrompts(PROMPTS, tmp_path / "prompts"), origins)
        store = open_chats(None, lambda notice: None)
        app = SlipstreamApp(client, LOAD, store, theme=theme, defaults=DEFAULTS, by_name=by_name)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await it.ask("Which river in Europe is the longest?")
            it.screen.keep_settings({**BUILT_IN["precise"], "seed": 7, "system": PROMPTS["brief"]})
            await look(it, await opened(it))
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def test_sheet(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat, screen: SettingsScreen) -> None:
        await move_to(it, screen, "temperature")

    assert picture(look)


def test_wrong_value(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat, screen: SettingsScreen) -> None:
        await typed(it, screen, "min_p", "2")
        await it.sees("/min-p takes 0 to 1")
        assert screen.query_one(ValueBox).display

    assert picture(look)


def test_choices(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat, screen: SettingsScreen) -> None:
        await move_to(it, screen, "system")
        await it.pilot.press("enter")
        await it.until(lambda: screen.query_one(Choices).display)

    assert picture(look)
