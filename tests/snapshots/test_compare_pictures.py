"""Pictures of the Compare screen. Look at the report of a failing run before taking new ones."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.harness import Chat
from tests.app.tui.test_compare_difference import differing
from tests.app.tui.test_compare_screen import begun, comparison


@pytest.mark.parametrize("theme", ["slipstream-dark", "slipstream-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_compared(snap_compare: Any, theme: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.compare.runs.monotonic", _even_clock())
    client = FakeClient(comparison(2.41, 1.62))
    app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme)

    async def run_before(pilot: Pilot[None]) -> None:
        it = Chat(app, pilot, client)
        await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
        await begun(it)
        await it.sees("done, 3 runs of each way")
        await it.settle()

    assert snap_compare(app, terminal_size=size, run_before=run_before)


def test_compared_where_they_differ_far_down(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both panes rest at the first difference, and the footer has the key that goes there."""
    monkeypatch.setattr("app.compare.runs.monotonic", _even_clock())
    client = FakeClient(differing())
    app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme="slipstream-dark")

    async def run_before(pilot: Pilot[None]) -> None:
        it = Chat(app, pilot, client)
        await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
        await begun(it)
        await it.sees("done, 3 runs of each way", "Oder", "Elbe")
        await it.settle()

    assert snap_compare(app, terminal_size=(120, 40), run_before=run_before)


def _even_clock() -> Any:
    """Every look at the clock is a tenth of a second after the one before."""
    now = iter(range(10**9))
    return lambda: next(now) / 10
