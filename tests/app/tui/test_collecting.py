"""Garbage is not looked for in the whole program while an answer is drawn."""

from __future__ import annotations

import gc

import pytest

from app.tui import collecting
from tests.app.tui.fake_client import FakeClient, Wait, says
from tests.app.tui.harness import chat


async def test_what_is_there_before_an_answer_is_left_out_until_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "QUIET_SECONDS", 1000.0)  # no machine is so slow that they pass by themselves
    client = FakeClient([[*says("Once"), Wait("never")]])
    async with chat(client) as it:
        gc.unfreeze()
        await it.send("a story")
        await it.sees("Once")
        assert gc.get_freeze_count() > 10_000, "the program"
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        assert gc.get_freeze_count() > 10_000, "the end of an answer is no time to look through everything"
        its = it.screen.collecting
        its.tidy_in_time()
        assert gc.get_freeze_count() > 10_000, "nor is the moment behind it"
        its._ended_at -= collecting.QUIET_SECONDS
        await it.pilot.press("x")
        its.tidy_in_time()
        assert gc.get_freeze_count() > 10_000, "nor is typing"
        it.screen.typed_at -= collecting.QUIET_SECONDS
        its.tidy_in_time()
        assert gc.get_freeze_count() == 0


async def test_a_chat_that_is_closed_leaves_nothing_out() -> None:
    async with chat(FakeClient([[*says("Once"), Wait("never")]])) as it:
        await it.send("a story")
        await it.sees("Once")
    assert gc.get_freeze_count() == 0


async def test_garbage_is_looked_for_again_when_the_first_screen_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ...]] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *thresholds: seen.append(thresholds))
    gc.disable()
    try:
        async with chat() as it:
            await it.until(gc.isenabled)
        assert seen == [collecting.THRESHOLDS]
    finally:
        gc.enable()
