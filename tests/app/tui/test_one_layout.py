"""A growing answer is laid out once for each piece, and that is enough."""

from __future__ import annotations

import pytest
from textual.screen import Screen
from textual.widget import Widget

from app.tui.thoughts import Thinking
from app.tui.widgets.answer_body import AnswerBody
from tests.app.tui.fake_client import FakeClient, Wait, ends, reads, says
from tests.app.tui.harness import Chat, chat
from tests.app.tui.test_painting import ALL


def measured_anew(it: Chat) -> list[str]:
    """The screen when every widget of it is measured again."""
    for widget in it.screen.walk_children(Widget):
        widget._clear_arrangement_cache()
        widget._layout_updates += 1
        widget.clear_cached_dimensions()
    it.screen._clear_arrangement_cache()
    Screen._refresh_layout(it.screen)
    return it.lines


@pytest.mark.parametrize("name", ALL)
async def test_nothing_moves_when_all_is_measured_again(name: str) -> None:
    client = FakeClient([[reads(1, 1), *says("Look:\n\n"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(60, 20)) as it:
        await it.send("go")
        await it.sees("Look:")
        body, text = it.screen.query_one(AnswerBody), ALL[name]
        size = max(9, len(text) // 6)
        for end in range(size, len(text) + size, size):
            await body.feed(text[end - size : end], end, Thinking())
            await it.settle()
            before = it.lines
            assert measured_anew(it) == before
        client.go("end")
        await it.until(lambda: it.idle)


async def test_a_piece_asks_for_one_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FakeClient([[reads(1, 1), *says("Look:\n\n1. one\n"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(60, 20)) as it:
        await it.send("go")
        await it.sees("Look:", "one")
        body, laid_out = it.screen.query_one(AnswerBody), 0
        lay_out = it.screen._refresh_layout

        def count(*how: object, **more: object) -> None:
            nonlocal laid_out
            laid_out += 1
            lay_out(*how, **more)  # type: ignore[arg-type]

        await it.settle()
        monkeypatch.setattr(it.screen, "_refresh_layout", count)
        for number in range(2, 12):
            await body.feed(f"{number}. item **{number}** of a list\n", number, Thinking())
            await it.settle()
        assert laid_out <= 11, "one for each, and one where the numbers become wider"
        client.go("end")
        await it.until(lambda: it.idle)
