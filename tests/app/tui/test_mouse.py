"""Everything in the chat can be done with the mouse."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from app.tui.screens.chats import ChatsScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.models import ModelsScreen
from app.tui.screens.receipt import ReceiptScreen
from app.tui.widgets.code_label import CodeLabel
from app.tui.widgets.completions import Completions
from app.tui.widgets.editing_row import EditingRow
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.legend import Legend
from app.tui.widgets.picker import PickerList
from app.tui.widgets.prompt_row import NextAnswer
from app.tui.widgets.receipt_line import ReceiptLine
from app.tui.widgets.speculation_picker import SpeculationPicker
from app.tui.widgets.thought import ThoughtRow
from app.tui.widgets.turns import AnswerTurn, UserTurn
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat, chat

CODE = "<think>\nHow?\n</think>\n\nSo:\n\n```sh\nls\n```\n"


async def clicks(it: Chat, widget: type[Widget] | Widget, x: int = 1, y: int = 0) -> None:
    await it.pilot.click(widget, offset=(x, y))
    await it.pilot.pause()


async def clicks_key(it: Chat, words: str) -> None:
    """Click an entry of the last row."""
    await it.sees(words)
    bar = it.app.screen.query_one(KeyBar)
    await it.pilot.click(bar, offset=(it.footer.index(words) + 1, 0))
    await it.pilot.pause()


async def test_a_chat_by_the_mouse_alone_but_for_its_words() -> None:
    client = FakeClient([[*says("Hello "), Wait("more"), ends("Hello ")], answer(CODE), answer("Other."), answer("x")])
    async with chat(client, size=(120, 34), shelf=FakeShelf()) as it:
        it.composer.text = "hi"
        await clicks_key(it, "enter send")
        await it.sees("Hello")
        await clicks_key(it, "esc stop")
        await it.until(lambda: it.idle)

        await clicks(it, it.answers[0])
        await clicks_key(it, "r again")
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        await it.sees("‹ 2/2 ›", "ls")

        it.screen.copy_text = lambda text, what="": it.screen.say(f"copied {text.strip()}")  # type: ignore[method-assign]
        await clicks(it, CodeLabel, x=it.screen.query_one(CodeLabel).size.width - 4)
        await it.sees("copied ls")
        await clicks(it, ThoughtRow)
        await it.sees("How?")

        await clicks(it, ReceiptLine, x=4)
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await clicks_key(it, "esc back")
        await it.until(lambda: it.app.screen is it.screen)

        line = next(row for row in range(34) if "‹ 2/2 ›" in it.lines[row])
        await it.pilot.click(offset=(it.lines[line].index("‹ 2/2 ›"), line))
        await it.sees("‹ 1/2 ›")

        await clicks(it, it.screen.query(UserTurn).first(), x=2)
        await clicks_key(it, "e edit")
        await it.until(lambda: it.screen.query_one(EditingRow).display)
        await clicks(it, EditingRow, x=4)
        await it.until(lambda: not it.screen.query_one(EditingRow).display)


async def test_a_click_into_the_text_leaves_the_letters_to_the_composer() -> None:
    """It may only be meant for the terminal's window: `remember` would ask again, `elephants` edit."""
    client = FakeClient([answer("Ships at night.")])
    async with chat(client, size=(120, 34)) as it:
        await it.ask("What does it see?")
        line = next(row for row in range(34) if "Ships at night." in it.lines[row])
        await it.pilot.click(offset=(it.lines[line].index("Ships"), line))
        await it.pilot.press(*"remember")
        assert it.composer.text == "remember"
        assert len(client.asked) == 1
        assert it.screen.selected is None


async def test_lists_the_legend_and_the_palette() -> None:
    async with chat(FakeClient([answer("ok")]), size=(120, 34), shelf=FakeShelf()) as it:
        await clicks(it, NextAnswer)
        await it.until(lambda: it.screen.query_one(SpeculationPicker).display)
        await clicks(it, PickerList, x=4, y=0)
        await it.sees("speculation auto → off")

        it.composer.text = "/xr"
        it.composer.move_cursor(it.composer.document.end)
        await it.until(lambda: it.screen.query_one(Completions).display)
        await clicks(it, Completions, x=4, y=1)
        await it.until(lambda: it.screen.query_one(Legend).display)
        await clicks(it, Legend, x=4)
        await it.until(lambda: not it.screen.query_one(Legend).display)

        await clicks_key(it, "ctrl+p all")
        await it.until(lambda: it.app.screen is not it.screen)
        await it.sees("every key, command and figure")
        row = next(n for n, line in enumerate(it.lines) if "every key, command and figure" in line)
        await it.pilot.click(offset=(40, row))
        await it.until(lambda: isinstance(it.app.screen, HelpScreen))
        await clicks_key(it, "/ find")
        await clicks_key(it, "esc all again")
        await clicks_key(it, "esc back")
        await it.until(lambda: it.app.screen is it.screen)


@pytest.mark.parametrize(("key", "screen"), [("ctrl+o chats", ChatsScreen), ("ctrl+l models", ModelsScreen)])
async def test_the_last_row_leads_to_chats_and_models(key: str, screen: type) -> None:
    async with chat(size=(120, 34), shelf=FakeShelf()) as it:
        await clicks_key(it, key)
        await it.until(lambda: isinstance(it.app.screen, screen))
        await clicks_key(it, "esc back")
        await it.until(lambda: it.app.screen is it.screen)


async def test_a_finished_answer_is_selected_with_a_click_and_left_with_another() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("hello")
        await clicks(it, it.answers[0])
        assert isinstance(it.screen.selected, AnswerTurn)
        await clicks_key(it, "esc back")
        await it.until(lambda: it.screen.selected is None)
