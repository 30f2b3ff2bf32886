"""Pictures of a selected turn and what is done to it. See test_chat_pictures.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from tests.app.tui.fake_client import LOAD, FakeClient, answer, ends, reads, receipt, says, stats
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat

Look = Callable[[Chat], Awaitable[None]]

CODE = """The shortest way:

```python
def longest(rivers: dict[str, int]) -> str:
    return max(rivers, key=rivers.get)  # by length
```

Without Python:

```sh
sort -t, -k2 -n rivers.csv | tail -1
```
"""
FIRST = "The longest river in Europe is the Danube."
SECOND = "The longest river in Europe is the Volga. It rises north-west of Moscow and ends in the Caspian Sea."


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int]) -> Callable[..., bool]:
    def take(client: FakeClient, look: Look) -> bool:
        app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=FakeShelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.opened and it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


async def again(it: Chat) -> None:
    before = len(it.client.asked)
    await it.pilot.press("alt+up", "r")
    await it.until(lambda: len(it.client.asked) > before and it.idle)


def test_selected_answer_with_variants(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("Which river in Europe is the longest?")
        await again(it)
        await again(it)
        await it.pilot.press("alt+up", "left")
        await it.sees("‹ 2/3 ›")

    figures = stats(47, accepted=18, rejected=10)
    assert picture(FakeClient([answer(FIRST), answer(SECOND, figures=figures), answer("The Volga.")]), look)


def test_selected_answer_with_code(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("Find the longest river in a table.")
        await it.pilot.press("alt+up")
        await it.sees("copy  2")

    assert picture(FakeClient([answer(CODE, figures=stats(96, accepted=41, rejected=12))]), look)


def test_editing(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("Which river in Europe is the longest?")
        await it.ask("And in Asia?")
        await it.pilot.press("alt+up", "up", "up", "up", "e")
        await it.sees("editing: enter sends it as a new branch")

    assert picture(FakeClient([answer(SECOND), answer("The Yangtze.")]), look)


def test_continued(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("Which river in Europe is the longest?")
        await it.pilot.press("alt+up", "g")
        await it.until(lambda: len(it.client.asked) == 2 and it.idle)
        await it.sees("continued behind")

    end = ends(SECOND[:52], reason="length")
    proof = receipt().model_copy(update={"prompt_ids": tuple(range(60)), "continued_from": 12})
    assert picture(FakeClient([[reads(1, 1), *says(SECOND[:52]), end], answer(SECOND[52:], proof=proof)]), look)
