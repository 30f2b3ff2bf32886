"""Keys that are otherwise than by default work, are shown, and are named in sentences."""

from __future__ import annotations

from app.tui import commands
from app.tui.screens.chats import ChatsScreen
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.legend import Legend
from app.tui.widgets.speculation_picker import SpeculationPicker
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import chat

TURNED = {"composer.send": "ctrl+enter, alt+enter", "composer.line": "enter"}


async def test_enter_can_break_the_line_and_another_key_send() -> None:
    async with chat(FakeClient([answer("ok"), answer("fine")]), keys=TURNED) as it:
        await it.pilot.press("a", "enter", "b")
        assert it.composer.text == "a\nb"
        await it.pilot.press("alt+enter")
        await it.until(lambda: it.questions == ["a\nb"] and it.idle)
        await it.pilot.press("c", "ctrl+j", "d", "ctrl+enter")
        await it.until(lambda: it.questions[1:] == ["cd"] and it.idle)
        assert "ctrl+enter send" in it.footer
        assert "enter line" in it.footer


async def test_enter_still_chooses_from_the_list_of_commands() -> None:
    async with chat(keys=TURNED) as it:
        await it.pilot.press("slash", "s", "p", "e", "enter")
        assert it.composer.text == "/spec "
        await it.pilot.press("o", "f", "f", "alt+enter")
        await it.sees("speculation auto → off")


async def test_enter_that_is_given_to_nothing_breaks_the_line() -> None:
    async with chat(FakeClient([answer("ok")]), keys={"composer.send": "f8"}) as it:
        await it.pilot.press("a", "enter", "b", "f8")
        await it.until(lambda: it.questions == ["a\nb"])


async def test_a_key_of_the_chat_moves_and_the_old_one_does_nothing() -> None:
    async with chat(keys={"chat.speculation": "f8", "chat.xray": "ctrl+e"}) as it:
        await it.pilot.press("ctrl+t")
        assert not it.screen.query_one(SpeculationPicker).display
        await it.pilot.press("f8")
        await it.until(lambda: it.screen.query_one(SpeculationPicker).display)
        await it.pilot.press("escape")
        assert "f8 speculation" in it.footer
        await it.pilot.press("ctrl+e")  # of the text area otherwise
        await it.until(lambda: it.screen.query_one(Legend).display)
        await it.sees("ctrl+e ends it")


async def test_quit_moves_with_its_key() -> None:
    async with chat(keys={"app.quit": "f10"}) as it:
        await it.pilot.press("ctrl+q")
        assert it.app.is_running
        await it.pilot.press("ctrl+c")
        await it.sees("Nothing is selected to copy. f10 quits")
        await it.pilot.press("f10")
        await it.until(lambda: not it.app.is_running)


async def test_a_wrong_wish_is_named_and_quit_stays() -> None:
    async with chat(keys={"app.quit": "q", "chat.nothing": "f5"}) as it:
        await it.sees(
            "settings.toml, [keys]: app.quit: q alone is a character of a message; it stays ctrl+q.",
            "settings.toml, [keys]: nothing that a key can do is called 'chat.nothing'",
        )
        await it.pilot.press("ctrl+q")
        await it.until(lambda: not it.app.is_running)


async def test_keys_of_a_selected_turn_and_of_other_screens_move() -> None:
    given = {"turn.again": "a", "chat.select_up": "f7", "models.close": "q", "chats.new": "plus", "chats.close": "f3"}
    client = FakeClient([answer("one"), answer("two")])
    async with chat(client, keys=given, shelf=FakeShelf()) as it:
        await it.ask("hello")
        await it.pilot.press("f7", "a")
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        assert commands.registry()["regenerate"].shown_key == "f7 a"

        await it.pilot.press("ctrl+l")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen))
        await it.sees("q back")
        await it.pilot.press("q")
        await it.until(lambda: it.app.screen is it.screen)

        await it.pilot.press("ctrl+o")
        await it.until(lambda: isinstance(it.app.screen, ChatsScreen))
        await it.sees("f3 back", "+ new")
        await it.pilot.press("plus")
        await it.until(lambda: it.app.screen is it.screen and it.screen.chat.empty)


async def test_sentences_the_palette_and_the_list_name_the_key() -> None:
    client = FakeClient([[*says("Hello "), Wait("more"), ends("Hello ")]])
    async with chat(client, size=(120, 34), keys={"chat.stop": "f9", "chat.new": "f6"}) as it:
        await it.send("hi")
        await it.sees("Hello")
        await it.send("/new")
        await it.sees("An answer is being made; f9 stops it.")
        it.composer.text = ""
        await it.pilot.press("f9")
        await it.until(lambda: it.idle)
        await it.pilot.press("slash", "n", "e", "w")
        await it.sees("start an empty chat", "f6")
        await it.pilot.press("escape", "ctrl+p", *"new chat")
        await it.sees("f6: start an empty chat")


async def test_a_click_in_the_footer_does_what_the_moved_key_does() -> None:
    async with chat(keys={"chat.speculation": "f8"}) as it:
        await it.sees("f8 speculation")
        at = it.footer.index("f8 speculation")
        await it.pilot.click(KeyBar, offset=(at, 0))
        await it.until(lambda: it.screen.query_one(SpeculationPicker).display)
