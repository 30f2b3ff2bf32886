"""A key is on screen at once, whatever else waits for the next frame."""

from __future__ import annotations

import pytest
from textual.screen import Screen

from app.tui.widgets.composer import Composer
from tests.app.tui.fake_client import FakeClient
from tests.app.tui.harness import Chat, chat


def frames_are_late(it: Chat, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No frame is drawn from here on; what is sent to the terminal anyway."""
    drawn: list[str] = []
    display = it.app._display

    def see(screen: Screen[object], update: object) -> None:
        if update is not None:
            drawn.append(update.render_segments(it.app.console))  # type: ignore[attr-defined]
        display(screen, update)  # type: ignore[arg-type]

    monkeypatch.setattr(it.app, "_display", see)
    monkeypatch.setattr(it.screen._update_timer, "_callback", it.screen._update_timer.pause)
    return drawn


async def test_a_letter_does_not_wait_for_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    async with chat(FakeClient([])) as it:
        await it.pilot.press("h")
        drawn = frames_are_late(it, monkeypatch)
        await it.pilot.press("e")
        await it.until(lambda: any("he" in text for text in drawn))


async def test_a_line_more_waits_for_its_room() -> None:
    async with chat(FakeClient([])) as it:
        await it.pilot.press("h")
        composer = it.screen.query_one(Composer)
        assert composer.keeps_height
        composer.insert("\n")
        assert not composer.keeps_height
        await it.until(lambda: composer.keeps_height)
        assert composer.size.height == 2
        composer.insert("\n" * 100)
        await it.until(lambda: composer.keeps_height)
        assert composer.size.height < 100, "it grows no further, and is drawn at once again"
