"""Pictures of the question about the context. See test_chat_pictures.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.library import window
from app.tui.app import SlipstreamApp
from app.tui.widgets import notice
from engine.protocol import ErrorCode, Loaded, Outgrown, Receipt
from tests.app.tui.fake_client import LOAD, MODEL_PATH, FakeClient, answer, failure, model, pair, receipt, stats
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat
from tests.fixtures.headers import write_model

Look = Callable[[Chat], Awaitable[None]]

RIVERS = (
    ("Name three rivers in Europe.", "The Danube, the Rhine and the Volga."),
    ("Which of them is the longest?", "The Volga. It rises north-west of Moscow and ends in the Caspian Sea."),
    ("And which passes through most countries?", "The Danube passes through ten countries, more than any other."),
)
LETTER = "Here is the whole report of the river commission. What does it say about floods?"


@pytest.fixture(params=[(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture
def picture(
    snap_compare: Any, theme: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., bool]:
    """``free``: bytes of memory; ``trained``: tokens that the model was trained for."""
    file = write_model(tmp_path / Path(MODEL_PATH).name, layers=30, width=576, heads=9, kv_heads=3)

    monkeypatch.setattr(notice, "HINT_SECONDS", 600.0)  # a hint stays for the picture

    def take(scripts: list[Any], look: Look, *, free: int = 7_500_000_000, trained: int = 32_768) -> bool:
        monkeypatch.setattr(window, "available_memory", lambda: free)
        target = model(str(file)).model_copy(update={"context_trained": trained})
        loaded = pair(context=2048).model_copy(update={"target": target})
        client = FakeClient(scripts, loads=[[Loaded(id=0, pair=loaded)]])
        app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=FakeShelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            for number, (said, _) in enumerate(RIVERS):
                await it.ask(said)
                assert number < len(it.answers)
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def proof(*notes: str) -> Receipt:
    return receipt(notes=notes).model_copy(update={"context": 2048})


def answers() -> list[Any]:
    return [
        answer(text, figures=stats(47, prompt=280 + 700 * at, accepted=18, rejected=10), proof=proof())
        for at, (_, text) in enumerate(RIVERS)
    ]


def too_large(dropped: int = 4, left: int = 1500) -> list[Any]:
    words = "The conversation is 2,716 tokens long and the context holds 2,048."
    outgrown = Outgrown(tokens=2716, context=2048, dropped=dropped, left=left)
    return [failure(ErrorCode.PROMPT_TOO_LARGE, words).model_copy(update={"outgrown": outgrown})]


async def asked(it: Chat) -> None:
    await it.send(LETTER)
    await it.sees("2,716 tokens do not fit")


def test_asked(picture: Callable[..., bool]) -> None:
    assert picture([*answers(), too_large()], asked)


def test_nothing_helps(picture: Callable[..., bool]) -> None:
    assert picture([*answers(), too_large(dropped=0, left=2400)], asked, free=2_000_000)


def test_dropped(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await asked(it)
        await it.pilot.press("home", "enter")
        await it.until(lambda: it.idle and len(it.answers) == 4)
        await it.sees("overflow ask asks again", "left out: the conversation")

    note = "the 4 oldest messages were left out: the conversation is 2,716 tokens long, the context holds 2,048"
    last = answer("It says that floods come every twelve years.", figures=stats(47, prompt=1500), proof=proof(note))
    assert picture([*answers(), too_large(), last], look)


def test_full(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("Tell me all about the Danube.")
        await it.send("/context")
        await it.sees("context: 2,048 of 2,048 tokens are used, 100 %")

    full = proof("the context of 2,048 tokens is full")
    text = "The Danube rises in the Black Forest, passes Vienna, Bratislava, Budapest and Belgrade, and"
    figures = stats(300, prompt=1749, accepted=120, rejected=44)
    assert picture([*answers(), answer(text, reason="length", figures=figures, proof=full)], look)
