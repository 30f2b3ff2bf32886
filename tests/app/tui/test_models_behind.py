"""Downloads go on behind the chat: what it says of them, and that neither disturbs the other."""

from __future__ import annotations

from app.library.records import Phase
from app.tui.widgets.header import Header
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.fake_shelf import QWEN, FakeShelf, getting
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import opened
from tests.app.tui.test_models_files import fetching


async def test_downloads_go_on_behind_the_chat_which_can_be_used() -> None:
    client, shelf = FakeClient([answer("Meanwhile.")]), FakeShelf()
    async with chat(client, shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_300_000_000)
        await it.pilot.press("escape")
        await it.sees("↓ 41 %")
        await it.ask("are you still there?")
        await it.sees("Meanwhile.", "↓ 41 %")
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)
        await it.sees("Qwen3-4B with 0.6B is here; choose it with ctrl+l.")
        assert it.screen.query_one(Header).getting == ""


async def test_a_download_that_fails_behind_the_chat_is_said_there() -> None:
    words = "Qwen3-4B-Q4_K_M.gguf: the disk is full; 1.0 GB of 2.5 GB are kept; make room, then start it again."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        await it.pilot.press("escape")
        await it.sees("↓ 0 %")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=words)
        await it.sees(words)
        assert "↓" not in it.lines[0]


async def test_an_answer_that_streams_is_not_disturbed_by_the_screen_over_it() -> None:
    client = FakeClient([[*says("One two three. "), Wait("end"), *says("Four."), ends("One two three. Four.")]])
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await it.send("count")
        await it.sees("One two three.")
        await opened(it)
        client.go("end")
        await it.until(lambda: it.idle)
        await it.pilot.press("escape")
        await it.sees("One two three. Four.")
        assert it.stored[-1] == ("assistant", "complete", "One two three. Four.")


async def test_quitting_lets_go_of_the_downloads() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf) as it:
        await opened(it)
        await it.pilot.press("ctrl+q")
        await it.until(lambda: shelf.closed)
