"""What is typed right behind a key that opens or closes something goes where it would go if it were typed slowly."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.command import CommandInput
from textual.widgets import Input

from app.chats.store import ChatStore
from app.tui.screens.chat import ChatScreen
from app.tui.screens.chats import ChatsScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.models import ModelsScreen
from app.tui.screens.score import ScoreScreen
from app.tui.screens.settings import SettingsScreen
from app.tui.widgets.filter_box import FilterBox
from app.tui.widgets.search_box import SearchBox
from app.tui.widgets.speculation_picker import SpeculationPicker
from app.tui.widgets.value_box import ValueBox
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import PATIENCE, Chat, chat, memory_store
from tests.app.tui.stored_chats import say
from tests.app.tui.test_typing_order import press_at_once


def typed(it: Chat, box: type[Input]) -> str:
    return it.app.screen.query_one(box).value


def picker(it: Chat) -> SpeculationPicker:
    return it.screen.query_one(SpeculationPicker)


@pytest.fixture
def store() -> ChatStore:
    """Two chats; the newer one is about slow cookers."""
    store = memory_store()
    for text in ("bread and butter", "slow cooking for beginners"):
        say(store, text, "Well.")
    return store


# ------------------------------------------------------------------------------------------------------- the picker


async def test_letters_behind_the_picker_are_the_message() -> None:
    async with chat() as it:
        press_at_once(it, "ctrl+t", *"low")
        await it.until(lambda: it.composer.text == "low")
        assert not picker(it).display, "who writes on has decided"
        assert it.composer.has_focus
        assert it.screen.mode == "auto"


async def test_a_paste_behind_the_picker_too() -> None:
    async with chat() as it:
        press_at_once(it, "ctrl+t")
        it.app.post_message(events.Paste("pasted"))
        press_at_once(it, "!")
        await it.until(lambda: it.composer.text == "pasted!")
        assert not picker(it).display


async def test_keys_behind_the_picker_are_its_own_and_letters_behind_its_enter_the_message() -> None:
    async with chat() as it:
        press_at_once(it, *"one ", "ctrl+t", "up", "enter", *"two", "ctrl+t", "escape", *" three")
        await it.until(lambda: it.composer.text == "one two three")
        assert it.screen.mode == "lookup"
        assert not picker(it).display


async def test_a_message_behind_the_choice_goes_out_with_it() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        press_at_once(it, "ctrl+t", "home", "enter", *"hello", "enter", *"next")
        await it.until(lambda: it.answers and it.idle and it.composer.text == "next")
        assert it.questions == ["hello"]
        assert [settings.speculation for settings in client.asked] == ["off"]


# -------------------------------------------------------------------------------------------------------- the screens


async def test_letters_behind_the_list_of_chats_are_searched_for(store: ChatStore) -> None:
    async with chat(store=store, size=(120, 40)) as it:
        press_at_once(it, "ctrl+o", *"low")
        await it.until(lambda: isinstance(it.app.screen, ChatsScreen) and typed(it, SearchBox) == "low")
        press_at_once(it, "escape", "escape", *"back")
        await it.until(lambda: isinstance(it.app.screen, ChatScreen) and it.composer.text == "back")


async def test_letters_behind_the_chat_that_is_opened_are_for_its_composer(store: ChatStore) -> None:
    async with chat(store=store, size=(120, 40)) as it:
        press_at_once(it, "ctrl+o", *"butter", "enter", *"and jam")
        await it.until(lambda: isinstance(it.app.screen, ChatScreen) and it.composer.text == "and jam")
        assert it.questions == ["bread and butter"]


async def test_letters_behind_a_new_name_are_for_the_list(store: ChatStore) -> None:
    async with chat(store=store, size=(120, 40)) as it:
        press_at_once(it, "ctrl+o", "home", "r", "ctrl+u", *"Cooker", "enter", *"bread")
        await it.until(lambda: isinstance(it.app.screen, ChatsScreen) and typed(it, SearchBox) == "bread")
        assert "Cooker" in [one.title for one in store.conversations()]


async def test_letters_behind_the_palette_are_looked_for() -> None:
    async with chat() as it:
        press_at_once(it, "ctrl+p", *"low")
        await it.until(lambda: isinstance(it.app.focused, CommandInput) and it.app.focused.value == "low")
        press_at_once(it, "escape", *"back")
        await it.until(lambda: it.app.screen is it.screen and it.composer.text == "back")


async def test_letters_behind_the_filter_of_the_models_are_filtered_by() -> None:
    async with chat(shelf=FakeShelf(), size=(120, 40)) as it:
        press_at_once(it, "ctrl+l", "slash", *"low")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen) and typed(it, FilterBox) == "low")
        press_at_once(it, "enter", "escape", *"back")
        await it.until(lambda: it.app.screen is it.screen and it.composer.text == "back")


async def test_letters_behind_help_are_found() -> None:
    async with chat() as it:
        press_at_once(it, "f1", *"low")
        await it.until(lambda: isinstance(it.app.screen, HelpScreen) and typed(it, FilterBox) == "low")
        press_at_once(it, "escape", "f1", *"back")
        await it.until(lambda: it.app.screen is it.screen and it.composer.text == "back")


async def test_digits_behind_the_settings_are_a_value() -> None:
    async with chat() as it:
        press_at_once(it, "f2", *["down"] * 4, *"0.25", "enter", "escape", *"back")
        await it.until(lambda: it.app.screen is it.screen and it.composer.text == "back")
        own = it.screen.chat.conversation.settings
        assert 0.25 in own.values()


async def test_a_box_in_the_settings_takes_all_digits() -> None:
    async with chat() as it:
        press_at_once(it, "f2", *["down"] * 4, *"0.25")
        await it.until(lambda: isinstance(it.app.screen, SettingsScreen) and typed(it, ValueBox) == "0.25")


async def test_letters_behind_the_key_that_leads_back_are_the_message() -> None:
    async with chat() as it:
        await it.send("/score")
        await it.until(lambda: isinstance(it.app.screen, ScoreScreen))
        press_at_once(it, "escape", *"back")
        await it.until(lambda: it.app.screen is it.screen and it.composer.text == "back")


# ------------------------------------------------------------------------------------------------------ never for good


async def test_a_busy_screen_holds_keys_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.in_order.PATIENCE_SECONDS", 0.01)
    async with chat() as it:
        free = asyncio.Event()
        it.screen.call_next(free.wait)
        press_at_once(it, "f6", *"next")  # f6 means nothing: it goes all the way up
        async with asyncio.timeout(PATIENCE):
            while it.composer.text != "next":  # noqa: ASYNC110  Pilot would wait for the screen
                await asyncio.sleep(0.005)
        free.set()
