"""Pictures of the chat's main states. Look at the report of a failing run before taking new ones
(``pytest tests/snapshots --snapshot-update``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from engine.protocol import ErrorCode, Loaded, Loading
from tests.app.tui.fake_client import (
    LOAD,
    Crash,
    FakeClient,
    Step,
    Wait,
    answer,
    counts,
    failure,
    pair,
    reads,
    receipt,
    says,
    stats,
)
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat

Look = Callable[[Chat], Awaitable[None]]
SIZES = [(80, 24), (120, 40)]
THEMES = ["dark", "light"]

RIVERS = """Three rivers in Europe:

1. **Danube** passes through ten countries, more than any other river.
2. **Rhine** runs from the Alps to the North Sea; `barges` use most of it.

```python
def longest(rivers: dict[str, int]) -> str:
    return max(rivers, key=rivers.get)  # by length
```

| river | km |
|---|---|
| Danube | 2,850 |

> Figures differ by source.
"""
VOLGA = "The longest river in Europe is the Volga. It rises north-west of Moscow and"


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    return f"slipstream-{request.param}"


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int]) -> Callable[..., bool]:
    def take(client: FakeClient, look: Look, *, at: tuple[int, int] | None = None) -> bool:
        store = open_chats(None, lambda notice: None)
        app = SlipstreamApp(client, LOAD, store, theme=theme, library=FakeShelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.opened, "the screen")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=at or size, run_before=run_before))

    return take


def conversation(*more: list[Step]) -> FakeClient:
    return FakeClient([answer(RIVERS, figures=stats(512, accepted=214, rejected=87)), *more])


async def loaded(it: Chat) -> None:
    await it.until(lambda: it.screen.answering.state.pair is not None, "the model")


def test_empty(picture: Callable[..., bool]) -> None:
    assert picture(FakeClient(), loaded)


def test_loading_with_a_message_that_waits(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.until(lambda: it.screen.answering.state.loading is not None)
        await it.send("Is anybody there?")
        await it.until(lambda: not it.idle)

    loads = [[Loading(id=0, what="target", fraction=0.4), Wait("never"), Loaded(id=0, pair=pair())]]
    assert picture(FakeClient(loads=loads), look)


def test_reading_a_long_prompt(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.send("Summarize the text above.\nIn two sentences.")
        await it.sees("reading 512/2,048")

    assert picture(FakeClient([[reads(512, 2048), Wait("never")]]), look)


def test_writing_under_a_finished_answer(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Name two rivers in Europe and say one thing about each.")
        await it.send("And the longest one?")
        await it.sees("Moscow and", "/28)" if it.app.size.width > 110 else "64 %")
        await it.pilot.press(*"typed meanwhile")

    assert picture(conversation([reads(31, 31), *says(VOLGA), counts(), Wait("never")]), look)


def test_stopped_and_refused_draft(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Tell me a story.")
        await it.send("A longer one.")
        await it.sees("Once upon")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)

    proof = receipt("none", refused="vocabulary differs at id 1204")
    short = answer("There was a ferry.", figures=stats(6, accepted=0, rejected=0), proof=proof)
    assert picture(FakeClient([short, [reads(9, 9), *says("Once upon a time"), counts(), Wait("never")]]), look)


def test_engine_stopped(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.send("Go on.")
        await it.until(lambda: it.idle and it.answers)

    assert picture(FakeClient([[reads(9, 9), *says("The ferry waited"), counts(), Crash()]]), look)


def test_model_that_does_not_load(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.sees("12 of 98 MB")
        it.composer.text = "what I typed\nis still here"

    words = "The file /models/SmolLM2-135M.gguf is cut off: 12 of 98 MB are there. Fetch it again; your chats are kept."
    assert picture(FakeClient(loads=[[failure(ErrorCode.TRUNCATED_GGUF, words)]]), look)


def test_speculation_switch(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Name two rivers in Europe and say one thing about each.")
        await it.pilot.press("ctrl+t")
        await it.sees("speculation for the next answer")

    client = conversation()
    client.loads = [[Loaded(id=0, pair=pair(refused="vocabulary differs (type, first at id 0)"))]]
    assert picture(client, look)


def test_palette(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Name two rivers in Europe and say one thing about each.")
        await it.pilot.press("ctrl+p")
        await it.sees("Name two rivers", "another answer; this one stays beside it")  # behind the list, and in it

    assert picture(conversation(), look)


def test_reading_back(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Count.")
        await it.pilot.press("pageup")
        await it.sees("↓ end: back to the latest text")

    assert picture(FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))]), look)


@pytest.mark.parametrize("size", [(200, 60)], ids=["200x60"], indirect=True)
def test_wide_screen(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await loaded(it)
        await it.ask("Name two rivers in Europe and say one thing about each.")

    assert picture(conversation(), look)


@pytest.mark.parametrize("size", [(40, 10)], ids=["40x10"], indirect=True)
def test_too_small(picture: Callable[..., bool]) -> None:
    assert picture(FakeClient(), loaded)
