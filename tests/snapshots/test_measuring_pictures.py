"""Pictures of the scorecard, of the choice of ways and of a replay. Look at the report of a failing run before taking
new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from engine.protocol import Difference, LoadSettings, Replayed
from tests.app.tui.fake_client import LOAD, FakeClient, answer
from tests.app.tui.fake_shelf import MISTRAL, STARTER, FakeShelf
from tests.app.tui.harness import Chat
from tests.app.tui.models_screen import move_to, opened
from tests.app.tui.test_compare_screen import begun, comparison
from tests.app.tui.test_replay_screen import Holding, loads, made
from tests.app.tui.test_score_screen import measured, scoring
from tests.app.tui.test_ways_screen import chooser, finished, other_ways
from tests.unit.score.test_card import outcome_of

Look = Callable[[Chat], Awaitable[None]]


@pytest.fixture(params=[(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture
def picture(
    snap_compare: Any, theme: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., bool]:
    ticks = count()
    monkeypatch.setattr("app.compare.runs.monotonic", lambda: next(ticks) / 10)

    def take(client: FakeClient, look: Look, *, load: LoadSettings = LOAD) -> bool:
        store = open_chats(None, lambda notice: None)
        app = SlipstreamApp(client, load, store, theme=theme, library=FakeShelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def test_score(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), STARTER)
        await scoring(it)
        await it.pilot.press("enter")
        await it.sees("Best here: ")

    assert picture(FakeClient(measured(2.0, 1.4), tested=outcome_of()), look)


def test_score_before_it_begins(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), MISTRAL)
        await scoring(it)

    assert picture(FakeClient(), look)


def test_ways(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await begun(it)
        await it.sees("done, 3 runs of each way")
        await chooser(it)
        await it.sees("auto Qwen3-0.6B Q8_0")
        await it.pilot.press("right", "right", "space")

    assert picture(FakeClient(comparison(2.41, 1.62)), look)


def test_four_ways(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        await chooser(it)
        await it.pilot.press("right", "right", "space", "right", "space", "enter")
        await finished(it, screen, "off, lookup:4, lookup:8, auto")

    assert picture(FakeClient([*comparison(2.41, 1.62), *other_ways(4)]), look)


def test_replay(picture: Callable[..., bool], tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("m") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(b"GGUF" + bytes(1000))
    client = Holding([answer("The longest river in Europe is the Volga.", proof=made(file))])
    differs = Difference(index=1, expected=2, chosen=9, expected_probability=0.25, chosen_probability=0.5, width=1)
    client.replies = [Replayed(id=0, compared=2, difference=differs)]

    async def look(it: Chat) -> None:
        await it.ask("And the longest one?")
        await it.send("/replay passes")
        await it.sees("Different from token 2 of 2 on")

    assert picture(client, look, load=loads(file))
