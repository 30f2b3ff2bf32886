"""Whatever a command or a key of the chat does is in the palette and in the help."""

from __future__ import annotations

from app.tui import commands, keymap
from app.tui.help_pages import all_commands, all_keys
from app.tui.keys import APP, CHAT
from app.tui.pressed import pressed
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import chat

OF_THE_MOMENT = {
    "chat.leave_edit",  # esc, only while something is edited
    "chat.select_up",  # moving
    "chat.select_down",
    "app.palette",  # the palette itself
}


async def test_every_command_is_in_the_palette() -> None:
    async with chat(FakeClient([answer("ok")]), shelf=FakeShelf()) as it:
        await it.ask("hello")
        titles = [entry.title for entry in it.app.get_system_commands(it.screen)]
        assert titles == [command.title for command in commands.offered(it.screen)]
        assert "Suspend" in titles


async def test_the_palette_says_how_it_is_left() -> None:
    async with chat(size=(48, 20)) as it:
        await it.pilot.press("ctrl+p")
        await it.sees("Search for commands; esc closes")
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.has_focus)
        await it.send("/theme")
        await it.sees("which theme; esc closes")


def test_every_key_of_the_chat_does_what_a_command_does() -> None:
    keys = {command.shown_key for command in commands.registry().values()}
    for binding in (*CHAT, *APP):
        if binding.id not in OF_THE_MOMENT:
            assert keymap.key_of(str(binding.id)) in keys, f"{binding.id} is in no palette"


def test_every_command_and_key_is_in_the_help() -> None:
    listed = {row.what.split()[0].removeprefix("/") for row in all_commands().rows}
    assert listed >= {one.name for one in commands.registry().values() if one.where != "lines"}
    named = {row.name for section in all_keys(()) for row in section.rows}
    together = set(keymap.SHOWN_FOR_BOTH.values())
    numbers = {f"turn.block_{n}" for n in range(1, 10)}
    assert set(keymap.bindings()) - named <= together | numbers | {one for one in keymap.bindings() if "begin_" in one}


async def test_suspending_by_its_command_is_what_the_key_does() -> None:
    async with chat() as it:
        assert pressed(commands.registry()["suspend"].key) == "ctrl+z"
        await it.send("/suspend")
        await it.sees("Slipstream was not suspended: no shell with job control started it")
