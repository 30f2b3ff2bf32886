"""A terminal of 256 colours shows which row enter takes."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.widgets import OptionList

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from app.tui.few_colours import drawn
from app.tui.widgets.speculation_picker import SpeculationPicker
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.harness import Chat


@pytest.mark.parametrize("theme", ["slipstream-dark", "slipstream-light"])
@pytest.mark.parametrize("few", [True, False])
async def test_the_row_under_the_cursor(theme: str, few: bool) -> None:
    app = SlipstreamApp(FakeClient(), LOAD, open_chats(None, lambda notice: None), theme=theme)
    app.few_colours = few
    async with app.run_test(size=(110, 34)) as pilot:
        it = Chat(app, pilot, FakeClient())
        await it.until(lambda: it.screen.opened and not it.screen.answering.state.is_loading)
        await pilot.press("ctrl+t")
        await it.until(lambda: it.screen.query_one(SpeculationPicker).display)
        options = it.screen.query_one(SpeculationPicker).query_one(OptionList)
        assert options.has_focus
        row = options.get_visual_style("option-list--option-highlighted").background
        told = drawn(row) != drawn(Color.parse(app.theme_variables["background"]))
        assert told is few
        if not few:
            assert row == Color.parse(app.current_theme.variables["highlight"])
