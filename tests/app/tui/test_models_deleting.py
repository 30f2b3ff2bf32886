"""The Models screen deletes what Slipstream fetched, and what nobody uses."""

from __future__ import annotations

from dataclasses import replace

from engine.protocol import ModelFile
from tests.app.tui.fake_client import LOAD, MODEL_PATH
from tests.app.tui.fake_shelf import DRAFT, DRAFT_PATH, PARTLY, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened


async def test_deleting_shows_what_goes_and_what_stays() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, DRAFT)
        await it.pilot.press("delete")
        await it.sees("Delete Qwen3-0.6B Q8_0? This frees 639 MB.", "/models/one.gguf", "Qwen3-8B with 0.6B needs it")
        await it.pilot.press("enter")
        await it.sees("Qwen3-0.6B Q8_0 is deleted; 639 MB are free again.")
        await it.until(lambda: "on this disk" not in it.shown.replace("on this disk (LM", ""))
    assert shelf.did == [("removal", DRAFT.key), ("remove", DRAFT.key)]


async def test_what_may_not_be_deleted_says_why() -> None:
    words = "/models/x.gguf stays: Slipstream did not fetch it. Delete it yourself if you want it gone."
    shelf = FakeShelf(removal_refusal=words)
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await move_to(it, await opened(it), PARTLY)
        await it.pilot.press("backspace")
        await it.sees("This cannot be deleted:", words)
        assert "enter" not in it.footer


async def test_the_model_that_answers_is_not_deleted_under_the_chat() -> None:
    shelf = FakeShelf([replace(STARTER, own=True), QWEN], removed=(MODEL_PATH,))
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await opened(it)
        await it.pilot.press("delete")
        await it.sees("SmolLM2-135M + lookup is in use now. Use another model first, then delete it.")
    assert shelf.did == [("removal", STARTER.key)]


async def test_nor_is_its_draft() -> None:
    shelf = FakeShelf([STARTER, DRAFT], removed=(DRAFT_PATH,))
    load = LOAD.model_copy(update={"draft": ModelFile(path=DRAFT_PATH)})
    async with chat(shelf=shelf, load=load, size=(120, 40)) as it:
        await move_to(it, await opened(it), DRAFT)
        await it.sees("in use as draft")
        await it.pilot.press("delete")
        await it.sees("Qwen3-0.6B Q8_0 is in use now. Use another model first, then delete it.")
