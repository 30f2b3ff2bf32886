"""The Models screen and a file of the user's that lies where a download would go; and work that gives way."""

from __future__ import annotations

import gc

import pytest

from app.tui.widgets.model_table import ModelTable
from tests.app.tui.fake_shelf import QWEN, FakeShelf
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened


async def test_a_file_of_the_users_is_replaced_only_after_two_questions() -> None:
    mine = "/home/you/models/Qwen/Qwen3-4B-Q4_K_M.gguf"
    words = f"{mine} is another file than the hub's, and Slipstream did not fetch it; nothing was changed."
    shelf = FakeShelf(refusal=words, in_the_way=(mine,))
    async with chat(shelf=shelf, size=(80, 24)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("A file of yours lies where Qwen3-4B with 0.6B would go.", "enter shows what would be lost")
        await it.pilot.press("enter")
        await it.sees("Fetch 3.1 GB and replace 1 file of yours?", "lost for good")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
        assert shelf.did == [("plan", QWEN.key), ("replacing", QWEN.key)]
        await it.pilot.press("enter")
        await it.sees("A file of yours lies where")
        await it.pilot.press("enter")
        await it.sees("and replace 1 file of yours?")
        await it.pilot.press("enter")
        await it.until(lambda: QWEN.key in shelf.moving, "the start")


async def test_what_gives_way_before_it_has_begun_was_never_called(recwarn: pytest.WarningsRecorder) -> None:
    async with chat(shelf=FakeShelf(), size=(120, 40)) as it:
        screen = await opened(it)
        called: list[int] = []

        async def work(number: int) -> None:
            called.append(number)

        screen.begin("work", work, 1)
        screen.begin("work", work, 2)
        await it.until(lambda: called == [2])
    gc.collect()
    assert not [str(one.message) for one in recwarn if "never awaited" in str(one.message)]
