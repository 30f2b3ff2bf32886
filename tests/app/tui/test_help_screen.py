"""The help screen: every key, command and figure, wherever one is."""

from __future__ import annotations

from textual import events

from app.receipt import EXPLAINED
from app.tui import commands, help_pages, keymap
from app.tui.screens.help import HelpHeader, HelpScreen, HelpSheet
from app.tui.widgets.filter_box import FilterBox
from engine.stats import FIGURES
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat, chat


def whole(it: Chat) -> str:
    """Everything that can be scrolled to, line breaks taken for blanks."""
    sheets = it.app.screen.query(HelpSheet)
    text = "\n".join(line.plain for sheet in sheets if sheet.display for line in sheet._lines(sheet.content_size.width))
    return " ".join(text.split())


async def opens(it: Chat, key: str = "f1") -> HelpScreen:
    await it.pilot.press(key)
    await it.until(lambda: isinstance(it.app.screen, HelpScreen), "the help screen")
    screen = it.app.screen
    assert isinstance(screen, HelpScreen)
    await it.settle()
    return screen


async def test_it_has_every_key_command_and_figure() -> None:
    async with chat(size=(200, 60)) as it:
        await opens(it)
        text = whole(it)
        for identifier in keymap.bindings():
            if not identifier.startswith(help_pages.BLOCKS):
                assert identifier in text
        for command in commands.registry().values():
            if command.where == "lines":
                assert f"/{command.name} {command.words}".rstrip() not in text.splitlines()
                continue
            assert f"/{command.name}" in text
            assert command.help in text
        for word, figure in EXPLAINED:
            assert word in text
            assert " ".join(FIGURES[figure].split()) in text
        assert "1–9" in text
        assert '"chat.compare" = "f5"' in text


async def test_keys_of_the_place_one_came_from_are_first() -> None:
    async with chat(FakeClient([answer("ok")]), shelf=FakeShelf()) as it:
        await opens(it)
        assert it.lines[3].strip() == "writing a message"
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen)
        assert it.composer.has_focus

        await it.ask("hello")
        await it.pilot.press("alt+up")
        await opens(it)
        assert it.lines[3].strip() == "a selected turn"
        await it.pilot.press("f1")
        await it.until(lambda: it.app.screen is it.screen)
        assert it.screen.selected is not None

        await it.pilot.press("escape", "ctrl+l")
        await it.until(lambda: it.app.screen is not it.screen)
        models = it.app.screen
        await opens(it)
        assert it.lines[3].strip() == "models"
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is models)


async def test_typing_finds_and_esc_leads_back_step_by_step() -> None:
    async with chat() as it:
        screen = await opens(it)
        await it.pilot.press("c", "o", "m", "p", "a", "r", "e")
        await it.sees(" found")
        assert "/compare" in whole(it)
        assert "/temp" not in whole(it)
        await it.pilot.press("enter")
        assert screen.focused is None
        await it.pilot.press("slash", "space", "z", "z")
        await it.sees("nothing with compare zz; esc shows everything")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(FilterBox).value == "")
        assert "/temp" in whole(it)
        await it.pilot.press("x", "enter", "escape")
        await it.until(lambda: screen.query_one(HelpHeader).words == "type to find")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen)


async def test_a_command_is_found_with_its_slash() -> None:
    async with chat() as it:
        screen = await opens(it)
        await it.pilot.press("slash", "slash", *"temp")
        assert screen.query_one(FilterBox).value == "/temp"
        await it.sees("/temp X", "1 found")
        assert "/ find" not in it.footer


async def test_letters_that_come_at_once_are_all_searched_for() -> None:
    async with chat() as it:
        screen = await opens(it)
        for key, character in (("s", "s"), ("e", "e"), ("space", " "), ("d", "d")):
            it.app.post_message(events.Key(key, character))
        await it.until(lambda: screen.query_one(FilterBox).value == "se d")


async def test_what_is_pasted_is_data() -> None:
    async with chat() as it:
        await opens(it)
        it.app.screen.post_message(events.Paste("[b]\x1b[31mred"))
        await it.sees("nothing with [b]")
        assert "\x1b" not in it.shown


async def test_it_scrolls_by_key_and_wheel() -> None:
    async with chat(size=(80, 24)) as it:
        await opens(it)
        sheets = it.app.screen.query_one("#help-sheets")
        for key in ("down", "pagedown", "space", "up", "pageup"):
            before = sheets.scroll_y
            await it.pilot.press(key)
            await it.until(lambda before=before: sheets.scroll_y != before, key)  # type: ignore[misc]
        await it.pilot.press("end")
        await it.until(lambda: sheets.scroll_y == sheets.max_scroll_y)
        await it.pilot.press("home")
        await it.until(lambda: sheets.scroll_y == 0)


async def test_commands_and_the_palette_open_it_too() -> None:
    async with chat() as it:
        for typed in ("/help", "/keys"):
            await it.send(typed)
            await it.until(lambda: isinstance(it.app.screen, HelpScreen))
            await it.pilot.press("escape")
            await it.until(lambda: it.app.screen is it.screen)
            assert it.composer.blank
        assert commands.registry()["help"].shown_key == "f1"
        await it.send("/keys now")
        await it.sees("/keys takes nothing behind it")


async def test_an_answer_goes_on_behind_it() -> None:
    client = FakeClient([[*says("Hello "), Wait("more"), *says("there."), ends("Hello there.")]])
    async with chat(client) as it:
        await it.send("hi")
        await it.sees("Hello")
        await opens(it)
        client.go("more")
        await it.until(lambda: it.idle)
        await it.pilot.press("escape")
        await it.sees("Hello there.")


async def test_it_shows_the_keys_that_were_given() -> None:
    async with chat(size=(120, 40), keys={"chat.compare": "f5", "help.close": "x"}) as it:
        await opens(it)
        assert "f5 the last request with and without speculation" in whole(it)
        assert "ctrl+r" not in whole(it).replace("escape, ctrl+r", "").replace("esc, ctrl+r", "")
        await it.pilot.press("x")
        await it.until(lambda: it.app.screen is it.screen)
