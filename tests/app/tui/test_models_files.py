"""The Models screen and the disk: plans, downloads, and what the chat behind it sees of them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from app.library.records import Phase, State
from app.tui.fetching import sign
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.model_table import ModelTable
from app.tui.widgets.question import Question
from tests.app.tui.fake_client import FakeClient
from tests.app.tui.fake_shelf import LARGE, PARTLY, QWEN, STARTER, FakeShelf, getting
from tests.app.tui.harness import Chat, chat
from tests.app.tui.models_screen import move_to, opened
from tests.fixtures.pace import limit


async def fetching(it: Chat, shelf: FakeShelf) -> ModelsScreen:
    """The screen, with a download that has begun."""
    screen = await opened(it)
    await move_to(it, screen, QWEN)
    await it.pilot.press("enter")
    await it.sees("Fetch 3.1 GB?")
    await it.pilot.press("enter")
    await it.until(lambda: QWEN.key in shelf.moving, "the start")
    return screen


async def test_the_plan_comes_first_and_esc_fetches_nothing() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("g")
        await it.sees("Fetch 3.1 GB?", "Qwen3-4B-Q4_K_M.gguf", "Apache-2.0", "49.9 GB afterwards", "enter yes")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
    assert shelf.did == [("plan", QWEN.key)]


async def test_progress_stands_in_the_row_and_moves() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        for share in (10, 25, 41):
            shelf.moving[QWEN.key] = getting((QWEN.size or 0) * share // 100 + 1)
            await it.sees(f"{share} %")
        await it.sees("▇▇▇▁▁▁▁▁", "12 MB/s", "3 min")
        await it.sees("p pause", "x cancel")
        assert "enter get" not in it.footer
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.CHECKING)
        await it.sees("100 %  checking")
        shelf.entries = (STARTER, replace(QWEN, state=State.READY, target="/m/qwen.gguf"))
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)
        await it.sees("Qwen3-4B with 0.6B is here; enter uses it.", "enter use")


async def test_pause_and_continue() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000)
        await it.sees("31 %")
        await it.pilot.press("p")
        await it.sees("31 %  paused", "enter continue", "x cancel")
        await it.pilot.press("p")
        await it.sees("p pause")
        await it.pilot.press("p")
        await it.sees("paused")
        await it.pilot.press("enter")
        await it.sees("p pause")
    assert [what for what, _ in shelf.did][-4:] == ["pause", "resume", "pause", "resume"]


async def test_cancel_asks_because_bytes_would_go() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000)
        await it.sees("31 %")
        await it.pilot.press("x")
        await it.sees("Give up Qwen3-4B with 0.6B?", "The 1.0 GB of it that are not whole would be deleted.")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
        assert ("cancel", QWEN.key) not in shelf.did
        await it.pilot.press("x", "enter")
        await it.until(lambda: ("cancel", QWEN.key) in shelf.did)
        await it.until(lambda: "31 %" not in it.shown)


async def test_giving_up_what_failed_leaves_no_word_of_what_was_kept() -> None:
    words = "Qwen3-4B-Q4_K_M.gguf: connection refused, 10 times in a row; 1.0 GB of 2.5 GB are kept; start it again."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000)
        await it.sees("31 %")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=words)
        await it.sees("31 %  failed", "are kept")
        await it.pilot.press("x")
        await it.sees("Give up Qwen3-4B with 0.6B?", "esc leaves all as it is.")
        await it.pilot.press("enter")
        await it.sees("Qwen3-4B with 0.6B was given up; what had arrived of it is deleted.")
        await it.until(lambda: "are kept" not in it.shown)


async def test_downloads_that_end_together_are_all_told_of() -> None:
    words = "Llama-3.1-8B: the connection broke off; 1.9 GB of 6.2 GB are kept; start it again to continue."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, entry=PARTLY)
        shelf.moving[LARGE.key] = getting(1_900_000_000, entry=LARGE)
        await it.sees("9 %")
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, Phase.FAILED, entry=PARTLY, trouble=words)
        shelf.moving[LARGE.key] = getting(0, Phase.CANCELLED, entry=LARGE)
        await it.sees(
            "Qwen3-4B with 0.6B is here; enter uses it.",
            words,
            "Qwen3-32B with 0.6B was given up; what had arrived of it is deleted.",
        )


async def test_behind_the_chat_they_are_all_told_of_as_well() -> None:
    words = "Llama-3.1-8B: the connection broke off; 1.9 GB of 6.2 GB are kept; start it again to continue."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, entry=PARTLY)
        shelf.moving[LARGE.key] = getting(1_900_000_000, entry=LARGE)
        await it.pilot.press("escape")
        await it.sees("↓ 1")
        shelf.moving[QWEN.key] = getting(QWEN.size or 0, Phase.DONE)
        shelf.moving[PARTLY.key] = getting(1_900_000_000, Phase.FAILED, entry=PARTLY, trouble=words)
        await it.sees("Qwen3-4B with 0.6B is here; choose it with ctrl+l.", words)
        shelf.moving[LARGE.key] = getting(LARGE.size or 0, Phase.DONE, entry=LARGE)
        await it.sees("Qwen3-4B with 0.6B is here", words, "Qwen3-32B with 0.6B is here; choose it with ctrl+l.")


async def test_a_failure_says_what_was_kept_and_the_key_goes_on() -> None:
    words = "Qwen3-4B-Q4_K_M.gguf: 127.0.0.1 ended at 1.0 GB; 1.0 GB of 2.5 GB are kept; start it again to continue."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.FAILED, trouble=words)
        await it.sees(words, "31 %  failed", "enter continue")
        await it.pilot.press("enter")
        await it.until(lambda: ("resume", QWEN.key) in shelf.did)


async def test_a_line_that_went_silent_says_so_and_shows_no_speed() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_000_000_000)
        await it.sees("MB/s")
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.STALLED, trouble="nothing for 20 s; tries again")
        await it.sees("31 %  will try again")
        assert "MB/s" not in it.shown


async def test_what_is_highlighted_says_why_it_does_not_go_on() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        waits = "the hub cannot be reached (connection refused); tries again"
        shelf.moving[QWEN.key] = getting(1_000_000_000, Phase.STALLED, trouble=waits)
        await it.sees("31 %  will try again", f"download  {waits}")
        shelf.moving[QWEN.key] = getting(1_100_000_000)
        await it.sees("35 %")
        await it.until(lambda: waits not in it.shown)
        gave_up = (
            "Qwen3-4B-Q4_K_M.gguf: connection refused, 10 times in a row; 1.1 GB of 2.5 GB are kept; start it again."
        )
        shelf.moving[QWEN.key] = getting(1_100_000_000, Phase.FAILED, trouble=gave_up)
        await it.sees(
            "download  Qwen3-4B-Q4_K_M.gguf: connection refused, 10 times in a row; 1.1 GB of 2.5 GB are kept"
        )


async def test_a_start_from_zero_is_told_once() -> None:
    words = "Qwen3-4B-Q4_K_M.gguf: what was kept was damaged: started from zero."
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(100_000_000, note=words)
        await it.sees(words)
        shelf.moving[QWEN.key] = getting(1_000_000_000, note=words)
        await it.sees("31 %")
        assert it.shown.count(words) == 1


async def test_a_plan_that_is_refused_shows_why_and_cannot_be_agreed_to() -> None:
    words = (
        "The disk of /home/you/models has 1.0 GB free, and 3.1 GB are to be fetched; nothing was fetched. Make room."
    )
    shelf = FakeShelf(refusal=words)
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("Qwen3-4B with 0.6B cannot be fetched.", words)
        assert "enter" not in it.footer
        await it.pilot.press("enter", "escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
    assert shelf.did == [("plan", QWEN.key)]


async def test_without_a_network_the_words_of_the_hub_are_shown_and_the_list_stays() -> None:
    words = "huggingface.co cannot be reached: no network. What is on this disk works; try again when there is one."
    shelf = FakeShelf(plan_error=words)
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("Qwen3-4B with 0.6B cannot be fetched now.", words, "SmolLM2-135M + lookup")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)


async def test_esc_ends_the_waiting_for_a_hub_that_does_not_answer() -> None:
    shelf = FakeShelf()
    shelf.hub_answers.clear()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("Asking the hub about Qwen3-4B with 0.6B…")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
        shelf.hub_answers.set()
        await it.settle()
        assert not screen.query_one(Question).display, "an answer that comes later is not wanted any more"


async def test_typing_is_not_held_up_by_a_hub_that_does_not_answer() -> None:
    shelf = FakeShelf()
    shelf.hub_answers.clear()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("enter")
        await it.sees("Asking the hub")
        await it.pilot.press("ctrl+l")
        await it.until(lambda: it.composer.has_focus)
        begun = time.monotonic()
        await it.pilot.press(*"typed")
        await it.sees("typed")
        assert time.monotonic() - begun < limit(1.5), "five letters and a look at the screen, on a busy machine"
        shelf.hub_answers.set()


async def test_any_model_of_the_hub_can_be_asked_for() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await opened(it)
        await it.pilot.press("slash", *"owner/repo:Q4_0")
        await it.sees("Nothing here is called owner/repo:Q4_0. enter asks the hub for it")
        await it.pilot.press("enter")
        await it.sees("Fetch 3.1 GB?")
        assert shelf.did == [("plan", "owner/repo:Q4_0")]


async def test_a_pair_whose_draft_is_missing_can_be_used_and_completed() -> None:
    half = replace(QWEN, state=State.PARTLY, target="/m/qwen.gguf", here=2_000_000_000)
    client = FakeClient()
    async with chat(client, shelf=FakeShelf([STARTER, half]), size=(120, 40)) as it:
        await move_to(it, await opened(it), half)
        await it.until(lambda: "enter use" in it.footer and "g get" in it.footer)
        await it.pilot.press("enter")
        await it.sees("answers from now on; the chat stays. Its draft is not here, so it drafts from the text so far.")


def test_the_sign_in_the_header_is_short() -> None:
    assert sign([]) == ""
    assert sign([getting(1, Phase.PAUSED)]) == ""
    assert sign([getting(1_300_000_000)]) == "↓ 41 %"
    assert sign([getting(1_300_000_000, Phase.STALLED)]) == "↓ 41 % no data"
    assert sign([getting(QWEN.size or 0), getting(0, entry=PARTLY)]) == "↓ 33 %"


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_progress_and_questions_in_small_terminals(size: tuple[int, int]) -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=size) as it:
        await fetching(it, shelf)
        shelf.moving[QWEN.key] = getting(1_300_000_000)
        await it.sees("41 %")
        assert all(len(line.rstrip()) <= size[0] for line in it.lines)
