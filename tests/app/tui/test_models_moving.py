"""The Models screen while a download goes on: details, highlight and news belong to the row that they speak of."""

from __future__ import annotations

from dataclasses import replace

from app.library.records import FileProgress, Phase
from tests.app.tui.fake_shelf import DRAFT, PARTLY, QWEN, STARTER, FakeShelf, getting
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened
from tests.app.tui.test_models_files import fetching


async def test_what_came_behind_another_row_is_not_what_enter_uses() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000)
        await it.sees("31 %")
        await move_to(it, screen, DRAFT)
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)
        await it.sees("Qwen3-4B with 0.6B is here.")
        assert "uses it" not in it.shown


async def test_the_highlight_follows_what_has_another_name_once_it_is_here() -> None:
    coming = replace(PARTLY, key="org/Tiny-GGUF/Tiny-Q8_0.gguf", title="Tiny-Q8_0")
    shelf = FakeShelf(entries=(STARTER, coming))
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, coming)
        file = FileProgress("Tiny-Q8_0.gguf", 5, 10, Phase.FETCHING)
        moving = replace(getting(1_900_000_000, entry=coming), files=(file,))
        shelf.moving[coming.key] = moving
        await it.sees("30 %")
        here = replace(DRAFT, key="Tiny-Q8_0", title="Tiny Q8_0", target="/models/org/Tiny-GGUF/Tiny-Q8_0.gguf")
        shelf.entries = (STARTER, here)
        shelf.moving[coming.key] = replace(moving, phase=Phase.DONE)
        await it.sees("is here; enter uses it.")
        assert screen.entry is not None
        assert screen.entry.key == "Tiny-Q8_0"


async def test_the_details_follow_the_row() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        for done in (1_000_000_000, 2_000_000_000):
            shelf.moving[QWEN.key] = getting(done)
            shelf.arrived = f"{done:,} bytes are here"
            await it.sees(shelf.arrived)
