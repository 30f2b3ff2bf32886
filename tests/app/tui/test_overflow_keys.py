"""A conversation that does not fit the context: who is not asked, and where keys go while the question stands."""

from __future__ import annotations

import pytest
from textual import events

from app.tui.widgets.overflow_picker import OverflowPicker
from tests.app.tui.fake_client import (
    Wait,
    answer,
)
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.overflow import (
    NOTHING_SENT,
    SENTENCE,
    asked,
    client,
    too_large,
)
from tests.app.tui.test_typing_order import press_at_once

# ------------------------------------------------------------------------------------------------ who is not asked


@pytest.mark.parametrize("by", ["settings", "chat"])
async def test_who_wants_it_refused_is_not_asked(by: str) -> None:
    async with chat(client(answer("Fine."), too_large()), overflow="stop" if by == "settings" else "ask") as it:
        if by == "chat":
            await it.send("/overflow stop")
        await it.ask("small")
        await it.send("a very long text")
        await it.until(lambda: it.notice == f"{SENTENCE} /context shows what can be done.")
        assert it.composer.text == "a very long text"
        assert not it.screen.overflowing.asking


async def test_who_has_the_oldest_left_out_is_asked_only_where_that_does_not_help() -> None:
    engine = client(answer("Fine."), too_large(dropped=0, left=2500))
    async with chat(engine, overflow="drop-oldest") as it:
        await it.ask("small")
        await asked(it)
        assert [settings.overflow for settings in engine.asked] == ["drop-oldest"] * 2
        assert "overflow" not in it.lines[-2], "nothing is otherwise than for every chat"


async def test_who_has_written_on_keeps_the_keyboard() -> None:
    engine = client([Wait("read"), *too_large()])
    async with chat(engine) as it:
        await it.send("a very long text")
        await it.until(lambda: engine.asked)
        await it.pilot.press(*"and")
        engine.go("read")
        await it.until(lambda: it.idle)
        await it.until(lambda: it.notice == f"{SENTENCE} /context shows what can be done.")
        await it.pilot.press(*" so on")
        assert it.composer.text == "a very long text\nand so on"
        assert not it.screen.overflowing.asking


async def test_who_writes_on_while_asked_writes_into_the_composer() -> None:
    engine = client(answer("Fine."), too_large(), answer("Both."))
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it)
        await it.pilot.press(*" and so on")
        await it.until(lambda: it.composer.text == "a very long text and so on")
        await it.until(lambda: not it.screen.query_one(OverflowPicker).display)
        assert it.notice == NOTHING_SENT
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        assert engine.asked[2].messages[-1].content == "a very long text and so on"


async def test_what_is_typed_behind_the_choice_stays_in_the_composer() -> None:
    engine = client(answer("Fine."), too_large(), answer("Here."))
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it, "burst")
        press_at_once(it, "up", "enter", *"xyz")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        await it.until(lambda: it.composer.text == "xyz")
        assert it.questions == ["small", "burst"]
        assert engine.loaded[-1].context == 4096
        assert not it.screen.overflowing.asking


@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_behind_a_stop_the_message_is_written_on(key: str) -> None:
    async with chat(client(too_large())) as it:
        await asked(it, "burst")
        press_at_once(it, key, *" xyz")
        await it.until(lambda: it.composer.text == "burst xyz")
        assert it.notice == NOTHING_SENT


async def test_a_paste_goes_there_too() -> None:
    async with chat(client(too_large())) as it:
        await asked(it)
        it.app.post_message(events.Paste(" pasted"))
        await it.until(lambda: it.composer.text == "a very long text pasted")
        assert it.notice == NOTHING_SENT


async def test_a_click_into_the_composer_is_a_stop() -> None:
    async with chat(client(too_large())) as it:
        await asked(it)
        await it.pilot.click("#composer")
        await it.until(lambda: not it.screen.overflowing.asking)
        assert it.notice == NOTHING_SENT
        assert it.composer.has_focus


async def test_another_chat_ends_the_question_and_the_message_stays_with_its_own() -> None:
    store = memory_store()
    async with chat(client(answer("Fine."), too_large()), store=store) as it:
        await it.ask("small")
        first = it.screen.chat.conversation.id
        await asked(it)
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.conversation.id != first)
        assert not it.screen.query_one(OverflowPicker).display
        assert it.composer.text == ""
        assert it.composer.has_focus
        assert store.unsent(first).text == "a very long text"
