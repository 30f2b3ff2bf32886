"""With less motion nothing blinks or slides, and answers grow in steps."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.widgets import Input

from app.tui.frame_budget import FRAME_SECONDS, TICK_SECONDS
from app.tui.motion import STEP_SECONDS
from tests.app.tui.fake_client import FakeClient, Wait, ends, says
from tests.app.tui.harness import chat


async def test_answers_grow_by_lines_and_sentences_and_end_whole() -> None:
    text = "One sentence. Another one without its"
    client = FakeClient([[*says(text), Wait("more"), *says(" end"), ends(f"{text} end")]])
    async with chat(client, motion="reduced") as it:
        assert it.screen.frames.timer is not None
        assert it.screen.frames.timer._interval == STEP_SECONDS > FRAME_SECONDS
        await it.send("hi")
        await it.sees("One sentence.")
        assert "Another" not in it.shown
        client.go("more")
        await it.sees("One sentence. Another one without its end")
        await it.until(lambda: it.idle)
        assert it.stored[-1][2] == f"{text} end"


async def test_nothing_slides() -> None:
    async with chat(motion="reduced") as it:
        assert it.app.animation_level == "none"


async def test_nothing_blinks_for_anybody() -> None:
    async with chat() as it:
        assert not it.composer.cursor_blink
        await it.pilot.press("ctrl+p")
        await it.until(lambda: it.app.screen is not it.screen)
        assert not it.app.screen.query_one(Input).cursor_blink


async def test_the_environment_may_ask_for_it(monkeypatch: Any) -> None:
    begin = App.__init__

    def calm(app: App[Any], *values: Any, **options: Any) -> None:
        begin(app, *values, **options)
        app.animation_level = "none"  # as Textual does for TEXTUAL_ANIMATIONS=none, which it reads once

    monkeypatch.setattr(App, "__init__", calm)
    async with chat() as it:
        assert it.screen.frames.timer is not None
        assert it.screen.frames.timer._interval == STEP_SECONDS


async def test_with_motion_all_is_as_it_was() -> None:
    async with chat() as it:
        assert it.app.animation_level == "full"
        assert it.screen.frames.timer is not None
        assert it.screen.frames.timer._interval == TICK_SECONDS
