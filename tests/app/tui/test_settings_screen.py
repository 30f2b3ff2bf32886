"""f2: the settings of the chat in a sheet, by keys and by mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from app.by_name import ByName
from app.chats.records import StoreError
from app.presets import BUILT_IN
from app.system_prompts import SystemPrompts
from app.tui.help_pages import all_keys, places_here
from app.tui.screens.chat import ChatScreen
from app.tui.screens.settings import SettingsScreen
from app.tui.widgets.choices import Choices
from app.tui.widgets.setting_list import SettingList
from app.tui.widgets.value_box import ValueBox
from engine.protocol import GenerateSettings, Loaded, Sampling
from tests.app.tui.fake_client import TEMPLATE, FakeClient, Wait, answer, ends, pair, says
from tests.app.tui.harness import Chat, chat

BRIEF = "Answer in one or two sentences."


@pytest.fixture
def by_name(tmp_path: Path) -> ByName:
    prompts = SystemPrompts({"brief": BRIEF}, tmp_path / "system-prompts.json")
    prompts.keep("pirate", "Talk like a pirate.\nAlways.")
    return ByName(BUILT_IN, prompts, {"top_k": "settings.toml", "seed": "command line"})


async def opened(it: Chat) -> SettingsScreen:
    await it.pilot.press("f2")
    await it.until(lambda: isinstance(it.app.screen, SettingsScreen), "the sheet")
    screen = it.app.screen
    assert isinstance(screen, SettingsScreen)
    await it.until(lambda: screen.row is not None)
    return screen


async def move_to(it: Chat, screen: SettingsScreen, key: str) -> None:
    await it.pilot.press("home")
    for _ in range(40):
        if screen.row is not None and screen.row.key == key:
            return
        await it.pilot.press("down")
    raise AssertionError(f"no row {key}")


async def typed(it: Chat, screen: SettingsScreen, key: str, value: str) -> None:
    """Edit that row."""
    await move_to(it, screen, key)
    await it.pilot.press("enter")
    await it.until(lambda: screen.query_one(ValueBox).has_focus, "the line")
    screen.query_one(ValueBox).value = value
    await it.pilot.press("enter")


async def chosen(it: Chat, screen: SettingsScreen, key: str, value: str) -> None:
    """Choose for that row."""
    await move_to(it, screen, key)
    await it.pilot.press("enter")
    choices = screen.query_one(Choices)
    await it.until(lambda: choices.display, "the choices")
    await it.pilot.press("home")
    at = next(n for n, one in enumerate(one for one in choices._offered if one.possible) if one.value == value)
    await it.pilot.press(*["down"] * at, "enter")
    await it.until(lambda: not choices.display)


def own(it: Chat) -> dict[str, object]:
    return dict(it.screen.chat.conversation.settings)


def line(it: Chat, title: str) -> str:
    return " ".join(next(row for row in it.lines if title in row).split())


async def left(it: Chat) -> None:
    await it.until(lambda: isinstance(it.app.screen, ChatScreen), "the chat")


class TestRows:
    async def test_each_says_what_is_in_force_and_where_it_comes_from(self, by_name: ByName) -> None:
        defaults = GenerateSettings(messages=(), seed=7, sampling=Sampling(top_k=9))
        async with chat(by_name=by_name, defaults=defaults, system=BRIEF, size=(120, 44)) as it:
            it.screen.keep_settings({"temperature": 0.2, "thinking": False})
            await opened(it)
            await it.sees("settings of this chat")
            assert line(it, "preset") == "● preset own values this chat the samplers below are as in no preset"
            assert line(it, "temperature").startswith("● temperature 0.2 this chat how freely tokens are chosen")
            assert line(it, "top k").startswith("top k 9 settings.toml choose among the k likeliest")
            assert line(it, "top p").startswith("top p 0.95 Slipstream")
            assert line(it, "seed").startswith("seed 7 command line the same seed")
            assert line(it, "longest draft").startswith("longest draft auto Slipstream")
            assert line(it, "thinking").startswith("● thinking off this chat")
            assert line(it, "speculation").startswith("speculation auto Slipstream drafts only while it can help")
            assert line(it, "system prompt").startswith(f"system prompt brief Slipstream {BRIEF}")
            await it.sees("advanced", "typical p", "DRY breakers", "XTC threshold", "logit bias", "JSON schema")

    async def test_a_preset_is_named_at_its_samplers(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            it.screen.keep_settings(BUILT_IN["precise"])
            await opened(it)
            assert line(it, "preset ").startswith("● preset precise this chat temp 0.3 · top-k 40")
            assert line(it, "min p").startswith("● min p 0.1 preset precise")

    async def test_thinking_is_there_where_it_can_be_switched(self, by_name: ByName) -> None:
        loaded = pair().model_copy(update={"template": TEMPLATE.model_copy(update={"thinking": "none"})})
        async with chat(FakeClient(loads=[[Loaded(id=0, pair=loaded)]]), by_name=by_name) as it:
            await opened(it)
            await it.sees("speculation")
            assert "thinking" not in it.shown

    async def test_hostile_values_and_prompts_are_inert(self, tmp_path: Path) -> None:
        nasty = "[red]x[/red]\x1b[2J\u202eabc"
        prompts = SystemPrompts({"a [b]": nasty}, tmp_path / "file")
        async with chat(by_name=ByName(BUILT_IN, prompts, {"top_k": nasty}), system=nasty, size=(120, 44)) as it:
            it.screen.keep_settings({"grammar": nasty, "dry_sequence_breakers": [nasty], "temperature": "hot"})
            screen = await opened(it)
            await it.sees("[red]x[/red]␛[2J\ufffdabc", "a [b]")
            assert "\x1b" not in it.shown
            assert "\u202e" not in it.shown
            await move_to(it, screen, "system")
            await it.pilot.press("enter")
            await it.until(lambda: screen.query_one(Choices).display)
            await it.sees("● a [b]")

    async def test_small_terminals_keep_value_and_origin(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(80, 24)) as it:
            screen = await opened(it)
            await it.sees("top k", "settings.toml")
            await move_to(it, screen, "json_schema")
            await it.sees("JSON schema", "takes a file with a JSON schema")


class TestTyping:
    async def test_enter_edits_in_place_and_the_next_answer_uses_it(self, by_name: ByName) -> None:
        client = FakeClient([answer("ok")])
        async with chat(client, by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await typed(it, screen, "temperature", "0.2")
            await it.until(lambda: own(it) == {"temperature": 0.2})
            await it.sees("temp 0.7 → 0.2")
            assert line(it, "temperature").startswith("● temperature 0.2 this chat")
            await it.until(lambda: screen.query_one(SettingList).has_focus)
            await typed(it, screen, "dry_multiplier", "0.8")
            await typed(it, screen, "logit_bias", "7=-1")
            await it.until(lambda: len(own(it)) == 3)
            await it.pilot.press("escape")
            await left(it)
            await it.ask("hi")
            assert client.asked[0].sampling == Sampling(temperature=0.2, dry_multiplier=0.8, logit_bias={7: -1.0})

    async def test_a_wrong_value_stays_in_the_line_with_a_sentence(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await typed(it, screen, "temperature", "11")
            await it.sees("/temp takes 0 to 10, not 11. It stays 0.7.")
            box = screen.query_one(ValueBox)
            assert (box.display, box.value) == (True, "11")
            await it.pilot.press("escape")
            await it.until(lambda: not box.display)
            await it.sees("takes 0 to 10", "0.7 unless this chat says otherwise")
            assert own(it) == {}
            assert isinstance(it.app.screen, SettingsScreen)

    async def test_a_digit_begins_another_number(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await move_to(it, screen, "top_k")
            await it.pilot.press("2", "0", "enter")
            await it.until(lambda: own(it) == {"top_k": 20})

    async def test_keys_that_come_at_once_are_for_the_line_that_the_first_one_opens(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await move_to(it, screen, "temperature")
            for keys, number in ((("down", "enter", "7", "3", "enter"), 73), (("1", "2", "0", "enter"), 120)):
                for key in keys:
                    it.app.post_message(events.Key(key, key if key.isdecimal() else None))
                await it.until(lambda number=number: own(it) == {"top_k": number})  # type: ignore[misc]
                await it.until(lambda: screen.query_one(SettingList).has_focus)

    async def test_delete_goes_back_to_the_default(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            it.screen.keep_settings({**BUILT_IN["precise"], "seed": 3, "grammar": "root ::= x"})
            screen = await opened(it)
            await move_to(it, screen, "seed")
            await it.sees("del default")
            await it.pilot.press("delete")
            await it.until(lambda: "seed" not in own(it))
            assert "del default" not in it.footer
            await move_to(it, screen, "preset")
            await it.pilot.press("delete")
            await it.until(lambda: own(it) == {"grammar": "root ::= x"})
            await it.sees("temp 0.3 → 0.7, top-p 0.9 → 0.95, min-p 0.1 → 0.05")

    async def test_a_store_that_cannot_write_is_said(self, by_name: ByName, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(self: ChatScreen, own: object) -> None:
            raise StoreError("The disk is full; nothing was changed.")

        async with chat(by_name=by_name) as it:
            screen = await opened(it)
            monkeypatch.setattr(ChatScreen, "keep_settings", refuse)
            await typed(it, screen, "temperature", "0.2")
            await it.sees("The disk is full; nothing was changed.")


class TestChoosing:
    async def test_a_preset(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await chosen(it, screen, "preset", "creative")
            await it.until(lambda: own(it) == BUILT_IN["creative"])
            await it.sees("temp 0.7 → 1, top-k 40 → 100, top-p 0.95 → 1")
            await chosen(it, screen, "preset", "default")
            await it.until(lambda: own(it) == {})

    async def test_speculation_and_thinking(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await move_to(it, screen, "speculation")
            await it.pilot.press("enter")
            await it.sees("✕ draft", "no draft model chosen", "● auto")
            await it.pilot.press("escape")
            await chosen(it, screen, "speculation", "off")
            await chosen(it, screen, "thinking", "off")
            await it.until(lambda: own(it) == {"speculation": "off", "thinking": False})
            await chosen(it, screen, "speculation", "default")
            await it.until(lambda: own(it) == {"thinking": False})

    async def test_a_system_prompt_by_name_or_written_here(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await chosen(it, screen, "system", "pirate")
            await it.until(lambda: own(it)["system"] == "Talk like a pirate.\nAlways.")
            await chosen(it, screen, "system", "")
            box = screen.query_one(ValueBox)
            await it.until(lambda: box.has_focus)
            assert box.value == ""  # not the lines of the other one as a single one
            box.value = "Be kind."
            await it.pilot.press("enter")
            await it.until(lambda: own(it) == {"system": "Be kind."})
            await it.sees("a text", "this chat")
            await chosen(it, screen, "system", "none")
            await it.until(lambda: own(it) == {"system": ""})


class TestMouse:
    async def test_a_click_selects_and_a_second_one_edits(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            settings = screen.query_one(SettingList)
            at = next(n for n, row in enumerate(it.lines) if "top k" in row) - settings.region.y
            await it.pilot.click(settings, offset=(10, at))
            await it.until(lambda: screen.row is not None and screen.row.key == "top_k")
            assert not screen.query_one(ValueBox).display
            await it.pilot.click(settings, offset=(10, at))
            await it.until(lambda: screen.query_one(ValueBox).display)

    async def test_a_click_past_the_choices_closes_them(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 44)) as it:
            screen = await opened(it)
            await it.pilot.press("enter")
            choices = screen.query_one(Choices)
            await it.until(lambda: choices.display)
            await it.pilot.click(screen.query_one(SettingList), offset=(10, 3))
            await it.until(lambda: not choices.display)
            await it.pilot.press("escape")
            await left(it)


async def test_it_opens_by_word_and_closes_by_its_key() -> None:
    async with chat() as it:
        await it.send("/settings")
        await it.until(lambda: isinstance(it.app.screen, SettingsScreen))
        await it.pilot.press("f2")
        await left(it)
        assert it.composer.has_focus


async def test_while_an_answer_is_made_it_goes_on_and_changes_are_for_the_next_one(by_name: ByName) -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")], answer("ok")])
    async with chat(client, by_name=by_name, size=(120, 44)) as it:
        await it.send("go")
        await it.sees("Slow")
        screen = await opened(it)
        await it.sees("from the next answer on")
        await typed(it, screen, "temperature", "0.2")
        await it.until(lambda: own(it) == {"temperature": 0.2})
        client.go("end")
        await it.until(lambda: it.idle)
        await it.pilot.press("escape")
        await left(it)
        await it.ask("again")
        assert [asked.sampling.temperature for asked in client.asked] == [0.7, 0.2]


async def test_help_begins_with_the_keys_of_the_sheet() -> None:
    async with chat(size=(120, 40)) as it:
        screen = await opened(it)
        assert places_here(screen)[0] == "settings"
        first = all_keys(places_here(screen))[0]
        assert first.title == "settings of a chat"
        assert "change the highlighted setting" in {row.words for row in first.rows}
        assert not {"type", "back", "up", "down"} & {row.words for row in first.rows}
