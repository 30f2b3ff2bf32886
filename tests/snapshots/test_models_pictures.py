"""Pictures of the Models screen. Look at the report of a failing run before taking new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.library.records import Phase
from app.tui.app import SlipstreamApp
from tests.app.tui.fake_client import LOAD, FakeClient, answer
from tests.app.tui.fake_shelf import LARGE, PARTLY, QWEN, FakeShelf, getting
from tests.app.tui.harness import Chat
from tests.app.tui.models_screen import move_to, opened

Look = Callable[[Chat], Awaitable[None]]


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int]) -> Callable[..., bool]:
    def take(shelf: FakeShelf, look: Look) -> bool:
        client = FakeClient([answer("The Volga.")])
        app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=lambda: shelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def test_list_with_a_download(picture: Callable[..., bool]) -> None:
    shelf = FakeShelf()
    shelf.moving = {
        QWEN.key: getting(1_300_000_000),
        PARTLY.key: getting(1_900_000_000, Phase.PAUSED, entry=PARTLY),
    }

    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), QWEN)

    assert picture(shelf, look)


@pytest.mark.parametrize("size", [(200, 60)], ids=["200x60"], indirect=True)
def test_list_on_a_wide_screen(picture: Callable[..., bool]) -> None:
    shelf = FakeShelf()
    shelf.moving = {QWEN.key: getting(1_300_000_000)}

    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), QWEN)

    assert picture(shelf, look)


LEFT_OUT = (
    'models.toml: entry "mine", field target: it is missing; the entry is left out.',
    "/home/you/.cache/huggingface/hub/models--org--Model-GGUF/snapshots/c0ffee/Model-Q4_K_M.gguf: it is a link to a "
    "file that is gone.",
    "/home/you/.ollama/models/manifests/registry.ollama.ai/library/broken/latest: its manifest cannot be understood.",
    "Ollama: half:1b is not here in full.",
    "LM Studio: 7 files are left out (it is no regular file): /home/you/.lmstudio/models/org/repo/0.gguf and 6 more.",
)


def test_much_that_is_left_out(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await opened(it)
        await it.sees("Not everything is listed: w says what is left out and why (5 notes).")

    assert picture(FakeShelf(complaints=LEFT_OUT), look)


def test_what_is_left_out(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), QWEN)
        await it.pilot.press("w")
        await it.sees("it is missing; the entry is left out.")

    assert picture(FakeShelf(complaints=LEFT_OUT), look)


def test_plan(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), QWEN)
        await it.pilot.press("enter")
        await it.sees("Fetch 3.1 GB?")

    assert picture(FakeShelf(), look)


def test_plan_that_is_refused(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await move_to(it, await opened(it), LARGE)
        await it.pilot.press("enter")
        await it.sees("cannot be fetched")

    words = (
        "The disk of /home/you/models has 1.0 GB free, and 20.4 GB are to be fetched; nothing was fetched. Make room, "
        "or choose a smaller quantization."
    )
    assert picture(FakeShelf(refusal=words), look)


def test_nothing_is_called_like_that(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await opened(it)
        await it.pilot.press("slash", *"owner/repo")
        await it.sees("enter asks the hub for it")

    assert picture(FakeShelf(), look)


def test_download_behind_the_chat(picture: Callable[..., bool]) -> None:
    shelf = FakeShelf()

    async def look(it: Chat) -> None:
        await it.ask("And the longest one?")
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("Fetch 3.1 GB?")
        await it.pilot.press("enter")
        await it.until(lambda: QWEN.key in shelf.moving)
        shelf.moving[QWEN.key] = getting(1_300_000_000)
        await it.pilot.press("escape")
        await it.sees("↓ 41 %")

    assert picture(shelf, look)
