"""up and down: what was said before, and what has not been said yet."""

from __future__ import annotations

from app.chats.store import ChatStore
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.test_typing_order import press_at_once


def other_chat(store: ChatStore, *texts: str) -> None:
    conversation = store.create_conversation()
    parent = None
    for text in texts:
        parent = store.append_user(conversation.id, text, parent=parent).id


async def press_up(it: Chat, expected: str) -> None:
    await it.pilot.press("up")
    assert it.composer.text == expected


async def press_down(it: Chat, expected: str) -> None:
    await it.pilot.press("down")
    assert it.composer.text == expected


async def test_this_chat_first_then_others_each_text_once_and_back_again() -> None:
    store = memory_store()
    other_chat(store, "elsewhere, old", "second", "elsewhere, new")
    store.create_conversation()
    async with chat(FakeClient([answer("ok")] * 3), store=store) as it:
        for text in ("first", "second", "first"):
            await it.ask(text)
        await it.pilot.press(*"unsent")
        await press_up(it, "first")
        await press_up(it, "second")
        await press_up(it, "elsewhere, new")
        await press_up(it, "elsewhere, old")
        await press_up(it, "elsewhere, old")
        await press_down(it, "elsewhere, new")
        await press_down(it, "second")
        await press_down(it, "first")
        await press_down(it, "unsent")
        await press_down(it, "unsent")
        assert it.composer.cursor_location == (0, 6)


async def test_only_at_the_first_and_the_last_line() -> None:
    async with chat(FakeClient([answer("ok")] * 2)) as it:
        await it.ask("one\ntwo")
        it.composer.text = "above\nbelow"
        it.composer.move_cursor((1, 0))
        await press_up(it, "above\nbelow")
        await press_up(it, "one\ntwo")
        assert it.composer.cursor_location == (0, 3), "another up goes on"
        await it.pilot.press("down")
        assert it.composer.text == "one\ntwo"
        await press_down(it, "above\nbelow")
        assert it.composer.cursor_location == (1, 5)


async def test_a_long_first_line_is_walked_through_first() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("said")
        text = "word " * 60
        it.composer.text = text
        it.composer.move_cursor(it.composer.document.end)
        await press_up(it, text)
        for _ in range(5):
            await it.pilot.press("up")
        assert it.composer.text == "said"


async def test_what_was_changed_in_a_recalled_text_is_not_lost() -> None:
    async with chat(FakeClient([answer("ok")] * 3)) as it:
        await it.ask("one")
        await it.ask("two")
        await it.pilot.press(*"new", "up", "!")
        assert it.composer.text == "two!"
        await press_up(it, "one")
        await press_down(it, "two!")
        await press_down(it, "new")
        await it.pilot.press("up", "enter")
        await it.until(lambda: it.questions == ["one", "two", "two!"])


async def test_a_message_that_looks_like_a_command_comes_back_as_it_is_typed() -> None:
    async with chat(FakeClient([answer("ok")] * 2)) as it:
        await it.ask("//help is a word")
        assert it.questions == ["/help is a word"]
        await press_up(it, "//help is a word")


async def test_what_was_not_sent_comes_back_when_an_earlier_message_is_sent_again() -> None:
    async with chat(FakeClient([answer("ok")] * 2)) as it:
        await it.ask("old")
        await it.pilot.press(*"draft", "up")
        press_at_once(it, "!", "enter", *"next")
        await it.until(lambda: it.questions == ["old", "old!"] and it.idle)
        await it.until(lambda: it.composer.text == "draft\nnext")
        await it.pilot.press("up", "up")
        await it.until(lambda: it.composer.text == "old!")
        await press_down(it, "draft\nnext")


async def test_so_it_does_when_a_command_was_made_of_the_earlier_message() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("old")
        await it.pilot.press(*"draft", "up", "ctrl+u", *"/temp 0.3", "enter")
        await it.until(lambda: it.composer.text == "draft")
        assert it.screen.settings_now().sampling.temperature == 0.3


async def test_nothing_was_said_yet() -> None:
    async with chat() as it:
        await it.pilot.press("a", "up")
        assert it.composer.text == "a"
