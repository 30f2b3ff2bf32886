"""A download that is tried again: what was said of the try before is not true any more, and goes."""

from __future__ import annotations

from app.library.records import Phase
from app.tui.widgets.notice import NoticeLine
from tests.app.tui.fake_shelf import PARTLY, QWEN, FakeShelf, getting
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened
from tests.app.tui.test_models_files import fetching


async def test_what_a_new_try_makes_false_goes_and_what_is_said_of_others_stays() -> None:
    gated = "Qwen3-4B-Q4_K_M.gguf: it is gated, accept its licence; 1.0 GB of 2.5 GB are kept; start it again."
    other = "Llama-3.1-8B: the connection broke off; 1.9 GB of 6.2 GB are kept; start it again to continue."
    note = "Qwen3-4B-Q4_K_M.gguf: the wrong file was removed."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await fetching(it, shelf)
        line = screen.query_one(NoticeLine)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, entry=PARTLY)
        await it.sees("30 %")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=gated, note=note)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, Phase.FAILED, entry=PARTLY, trouble=other)
        await it.until(lambda: set(line.text.split("\n")) == {note, gated, other}, "both")
        await it.pilot.press("enter")  # continue
        await it.until(lambda: line.text == other, "the other")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=gated)
        await it.until(lambda: gated in line.text, "it failed again")
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)  # between two looks
        await it.until(lambda: line.text == f"{other}\nQwen3-4B with 0.6B is here; enter uses it.", "it is here")


async def test_behind_the_chat_a_new_try_takes_back_how_the_last_one_failed() -> None:
    words = "Qwen3-4B-Q4_K_M.gguf: the connection broke off; 1.0 GB of 2.5 GB are kept; start it again to continue."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        await it.pilot.press("escape")
        await it.sees("↓ ")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=words)
        await it.sees(words)
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter", "escape")
        await it.until(lambda: it.app.screen is it.screen and ("resume", QWEN.key) in shelf.did, "back in the chat")
        await it.until(lambda: words not in it.notice, "it is past")
