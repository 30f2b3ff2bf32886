"""What is typed behind a slash."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from app.tui import commands
from app.tui.theme import DARK, LIGHT
from engine.protocol import GenerateSettings, Loaded
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, pair, says
from tests.app.tui.harness import chat, memory_store, replies

REFUSED = "There is no /foo. / shows all. A message that begins with a slash: type a space or // first."


class TestParsing:
    def test_a_command_is_one_line_with_a_name(self) -> None:
        assert commands.parse("/temp 0.5") == commands.Typed("temp", "0.5")
        assert commands.parse("/top-k") == commands.Typed("top-k", "")
        assert commands.parse("/system  Be brief. ") == commands.Typed("system", "Be brief.")
        assert commands.parse("/") == commands.Typed("", "")
        assert commands.parse("/home is where the heart is") == commands.Typed("home", "is where the heart is")

    @pytest.mark.parametrize(
        "text",
        [
            "/usr/bin/env",
            "/usr/bin\n/new",
            "/new\n",
            "/help\nme",
            "/Users",
            "/etc.",
            "/ a slash",
            " /new",
            "//new",
            "hi",
            "",
        ],
    )
    def test_everything_else_is_a_message(self, text: str) -> None:
        assert commands.parse(text) is None

    def test_two_slashes_stand_for_one(self) -> None:
        assert commands.message_of("//new chat") == "/new chat"
        assert commands.message_of("// a comment") == "// a comment"
        assert commands.message_of("//usr/lib") == "//usr/lib"
        assert commands.message_of("//new\nline") == "//new\nline"
        for text in ("/new chat", "//new", "// a comment", "/usr/bin", "hello"):
            assert commands.message_of(commands.typed_as(text)) == text
            assert commands.parse(commands.typed_as(text)) is None

    def test_every_command_can_be_typed_and_says_what_it_does(self) -> None:
        for name, command in commands.registry().items():
            assert commands.parse(f"/{name}") == commands.Typed(name, "")
            assert command.help
            assert command.title
        assert commands.registry()["spec"].shown_key == "ctrl+t"
        assert commands.registry()["quit"].shown_key == "ctrl+q"
        assert commands.registry()["regenerate"].shown_key == "alt+↑ r"
        assert commands.registry()["temp"].shown_key == ""


async def test_unknown_commands_stay_and_say_what_was_meant() -> None:
    async with chat() as it:
        await replies(it, "/foo bar", REFUSED)
        assert it.composer.text == "/foo bar"
        await replies(it, "/sped off", "There is no /sped; did you mean /spec? / shows all.")
        await replies(it, "/new now", "/new takes nothing behind it; now was not used.")
        assert it.composer.text == "/new now"
        await it.pilot.press("home", "space", "enter")
        await it.until(lambda: it.questions == [" /new now"])


async def test_a_pasted_path_is_a_message() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        it.composer.post_message(events.Paste("/usr/bin\n/new\n"))
        await it.until(lambda: it.composer.text != "")
        await it.pilot.press("enter")
        await it.until(lambda: it.questions == ["/usr/bin\n/new\n"])


@pytest.mark.parametrize(
    ("typed", "words", "stored"),
    [
        ("/temp 0.2", "temp 0.7 → 0.2, in this chat.", {"temperature": 0.2}),
        ("/top-k 5", "top-k 40 → 5, in this chat.", {"top_k": 5}),
        ("/top-p 0.5", "top-p 0.95 → 0.5, in this chat.", {"top_p": 0.5}),
        ("/min-p 0", "min-p 0.05 → 0, in this chat.", {"min_p": 0.0}),
        ("/temp 0.7", "temp is 0.7 already, in this chat.", {"temperature": 0.7}),
        ("/seed 7", "seed random → 7, in this chat.", {"seed": 7}),
        ("/draft-max 4", "draft-max auto → 4, in this chat.", {"draft_max": 4}),
        ("/max-tokens 100", "max-tokens none → 100, in this chat.", {"max_tokens": 100}),
        ("/spec off", "speculation auto → off, in this chat.", {"speculation": "off"}),
        ("/system Be brief.", 'System prompt none → "Be brief.", in this chat.', {"system": "Be brief."}),
    ],
)
async def test_a_setting_holds_for_this_chat_and_is_confirmed(typed: str, words: str, stored: dict[str, Any]) -> None:
    client = FakeClient([answer("ok")] * 2)
    async with chat(client) as it:
        await replies(it, typed, words)
        assert it.composer.text == ""
        assert it.screen.chat.conversation.settings == stored
        await it.ask("one")
        name, value = next(iter(stored.items()))
        asked = client.asked[0]
        if name == "system":
            assert (asked.messages[0].role, asked.messages[0].content) == ("system", value)
        else:
            assert getattr(asked if hasattr(asked, name) else asked.sampling, name) == value
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.empty)
        await it.ask("two")
        assert client.asked[1].model_copy(update={"messages": ()}) == GenerateSettings(messages=())


async def test_settings_are_there_again_and_go_back_to_the_default() -> None:
    store = memory_store()
    async with chat(FakeClient([answer("ok")]), store=store) as it:
        await it.ask("one")
        await it.send("/temp 0.2")
        await it.send("/seed 7")
        await it.sees("auto › lookup · temp 0.2 · seed 7")
    async with chat(store=store) as it:
        await it.sees("temp 0.2 · seed 7")
        await it.send("/temp")
        await it.sees("temp is 0.2; /temp takes 0 to 10.")
        await it.send("/temp default")
        await it.sees("temp 0.2 → 0.7, in this chat.")
        await it.send("/seed random")
        await it.sees("seed 7 → random, in this chat.")
        assert it.screen.chat.conversation.settings == {"seed": None}


async def test_many_changed_settings_are_counted() -> None:
    async with chat(size=(120, 34)) as it:
        for typed in ("/top-k 5", "/min-p 0", "/seed 7", "/max-tokens 100"):
            await it.send(typed)
        await it.sees("temp 0.7 · top-k 5 · min-p 0 · +2")


async def test_wrong_values_are_refused_and_change_nothing() -> None:
    async with chat() as it:
        await replies(it, "/temp 11", "/temp takes 0 to 10, not 11. It stays 0.7.")
        assert it.composer.text == "/temp 11"
        await replies(it, "/spec fast", "/spec takes off, lookup, draft or auto, not fast.")
        await replies(it, "/spec draft", "Speculation by draft is not possible: no draft model chosen. It stays auto.")
        await replies(it, "/theme pink", "There is no theme called pink. /theme and a space shows all.")
        assert it.screen.chat.conversation.settings == {}


async def test_a_reply_leaves_a_warning_in_place() -> None:
    loaded = pair(refused="vocabulary differs, first at id 1204")
    async with chat(FakeClient(loads=[[Loaded(id=0, pair=loaded)]])) as it:
        await it.sees("draft refused: vocabulary differs")
        await it.send("/temp 0.2")
        await it.sees("draft refused: vocabulary differs", "temp 0.7 → 0.2")
        await it.send("/temp 0.3")
        await it.sees("draft refused: vocabulary differs", "temp 0.2 → 0.3")
        assert "temp 0.7 →" not in it.shown


async def test_while_an_answer_is_made_settings_are_for_the_next_one() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        await it.send("/temp 0.2")
        await it.sees("temp 0.7 → 0.2, in this chat, from the next answer on.")
        await it.send("/new")
        await it.sees("/new can do nothing now. An answer is being made; esc stops it.")
        await it.send("/stop")
        await it.until(lambda: it.idle)
        assert client.asked[0].sampling.temperature == 0.7


async def test_new_help_theme_colours_latest_and_copy() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("hello")
        await it.send("/theme slipstream-light")
        await it.sees("theme slipstream-dark → slipstream-light, until Slipstream ends")
        assert it.app.theme == LIGHT.name
        await it.send("/theme slipstream-light")
        await it.sees("The theme is slipstream-light already.")
        await it.send("/colours")
        await it.until(lambda: it.app.theme == DARK.name)
        await it.send("/copy")
        await it.sees("Sent 2 characters to the terminal's clipboard (OSC 52).")
        await it.send("/copy-selected")
        await it.sees("Nothing is selected to copy.")
        await it.send("/latest")
        await it.until(lambda: it.transcript.following)
        await it.send("/help")
        await it.sees("keys, commands, figures")
        await it.pilot.press("escape")
        await it.send("/new")
        await it.until(lambda: it.screen.chat.empty)


async def test_quit_quits() -> None:
    async with chat() as it:
        await it.send("/quit")
        await it.until(lambda: not it.app.is_running)


async def test_spec_without_a_word_opens_the_switch() -> None:
    async with chat() as it:
        await it.send("/spec ")
        await it.sees("speculation for the next answer", "● auto")


class TestPalette:
    async def test_it_offers_the_same_commands(self) -> None:
        async with chat(FakeClient([answer("ok")])) as it:
            await it.ask("hi")
            listed = {command.title: command for command in it.app.get_system_commands(it.screen)}
            offered = list(commands.offered(it.screen))
            assert list(listed) == [command.title for command in offered]
            assert listed["New chat"].help == "ctrl+n: start an empty chat"
            assert listed["Temperature"].help.startswith("/temp: ")

    async def test_a_command_that_asks_comes_into_the_composer_and_what_stood_there_comes_back(self) -> None:
        async with chat() as it:
            it.composer.text = "half a message"
            await it.pilot.press("ctrl+p", *"temperature")
            await it.sees("/temp: how freely tokens are chosen")
            await it.pilot.press("enter")
            await it.until(lambda: it.composer.text == "/temp ")
            await it.pilot.press(*"0.2")
            await it.pilot.press("enter")
            await it.sees("temp 0.7 → 0.2")
            await it.until(lambda: it.composer.text == "half a message")

    async def test_also_when_it_is_given_up(self) -> None:
        async with chat() as it:
            it.composer.text = "half a message"
            it.screen.writing.begin("/temp ")
            await it.until(lambda: it.composer.text == "/temp ")
            it.screen.keep_unsent()
            assert it.screen.store.unsent(it.screen.chat.conversation.id).text == "half a message"
            await it.pilot.press("escape", *["backspace"] * 6)
            await it.until(lambda: it.composer.text == "half a message")
