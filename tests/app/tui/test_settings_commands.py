"""Presets, system prompts by name, thinking and the advanced samplers, behind a slash."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.by_name import ByName
from app.presets import BUILT_IN
from app.system_prompts import SystemPrompts
from app.tui import commands
from app.tui.widgets.completions import Completions
from engine.protocol import Loaded, Thinking
from tests.app.tui.fake_client import TEMPLATE, FakeClient, answer, pair
from tests.app.tui.harness import Chat, chat, memory_store

WILD = {"temperature": 1.3, "xtc_probability": 0.5}
BRIEF = "Answer in one or two sentences."


@pytest.fixture
def by_name(tmp_path: Path) -> ByName:
    prompts = SystemPrompts({"brief": BRIEF}, tmp_path / "system-prompts.json")
    prompts.keep("pirate", "Talk like a pirate.\nAlways.")
    return ByName({**BUILT_IN, "wild": WILD}, prompts)


async def replies(it: Chat, typed: str, *words: str) -> None:
    await it.send(typed)
    await it.sees(*words)
    assert it.idle
    assert not it.questions


def own(it: Chat) -> dict[str, object]:
    return dict(it.screen.chat.conversation.settings)


def suggested(it: Chat) -> list[str]:
    return [one.value for one in it.screen.query_one(Completions).suggestions]


class TestPresets:
    async def test_one_sets_its_samplers_and_says_what_has_changed(self, by_name: ByName) -> None:
        client = FakeClient([answer("ok")])
        async with chat(client, by_name=by_name, size=(140, 34)) as it:
            await replies(it, "/preset", "The preset is balanced. /preset takes precise, balanced, creative, wild or")
            await replies(
                it,
                "/preset precise",
                "preset balanced → precise: temp 0.7 → 0.3, top-p 0.95 → 0.9, min-p 0.05 → 0.1, in this chat.",
            )
            assert own(it) == BUILT_IN["precise"]
            await replies(it, "/temp 0.5", "temp 0.3 → 0.5, in this chat.")
            await replies(it, "/preset", "The preset is own values.")
            await replies(it, "/preset wild", "preset own values → wild: temp 0.5 → 1.3", "xtc-probability 0 → 0.5")
            assert own(it) == WILD
            await it.ask("hi")
            assert client.asked[0].sampling.xtc_probability == 0.5

    async def test_back_to_the_default_and_a_wrong_one(self, by_name: ByName) -> None:
        async with chat(by_name=by_name) as it:
            await replies(it, "/preset wild", "preset balanced → wild")
            await replies(it, "/preset tame", "/preset takes precise, balanced, creative, wild or default, not tame.")
            await it.sees("It stays wild.")
            await replies(it, "/preset default", "preset wild → balanced: temp 1.3 → 0.7, xtc-probability 0.5 → 0")
            assert own(it) == {}
            await replies(it, "/preset balanced", "preset balanced → balanced: nothing had to change, in this chat.")

    async def test_completion_says_what_each_sets(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 34)) as it:
            await it.pilot.press(*"/preset ")
            await it.sees("temp 0.3 · top-k 40 · top-p 0.9 · min-p 0.1", "temp 1.3 · xtc-probability 0.5")
            assert suggested(it) == ["precise", "balanced", "creative", "wild", "default"]
            await it.pilot.press(*"cr", "enter")
            await it.sees("preset balanced → creative")

    async def test_it_is_kept_with_the_chat(self, by_name: ByName) -> None:
        store = memory_store()
        async with chat(FakeClient([answer("ok")]), store=store, by_name=by_name) as it:
            await it.ask("one")
            await it.send("/preset creative")
            await it.sees("temp 1")
        async with chat(store=store, by_name=by_name) as it:
            await replies_now(it, "/preset", "The preset is creative.")


async def replies_now(it: Chat, typed: str, *words: str) -> None:
    await it.send(typed)
    await it.sees(*words)


class TestSystemPrompts:
    async def test_an_exact_name_stands_for_its_prompt_and_any_other_text_for_itself(self, by_name: ByName) -> None:
        client = FakeClient([answer("ok")])
        async with chat(client, by_name=by_name, size=(140, 34)) as it:
            await replies(it, "/system brief", f'System prompt none → brief ("{BRIEF}"), in this chat.')
            assert own(it) == {"system": BRIEF, "system_name": "brief"}
            await replies(it, "/system brief", f'System prompt is brief ("{BRIEF}") already, in this chat.')
            await replies(it, "/system Brief", f'brief ("{BRIEF}") → "Brief", in this chat.')
            await replies(it, "/system pirate", 'System prompt "Brief" → pirate ("Talk like a pirate. Always.")')
            await it.ask("hi")
            assert client.asked[0].messages[0].content == "Talk like a pirate.\nAlways."
            await replies_now(it, "/system", 'The system prompt is pirate ("Talk like a pirate. Always.").')

    async def test_names_are_completed_and_free_text_is_left_alone(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(120, 34)) as it:
            await it.pilot.press(*"/system ")
            await it.sees("settings.toml · Answer in one or two sentences.", "Talk like a pirate. Always.")
            assert suggested(it) == ["brief", "pirate", "none", "default"]
            await it.pilot.press(*"b")
            await it.until(lambda: suggested(it) == ["brief"])
            await it.pilot.press("enter")  # nothing was chosen from the list
            await it.sees('System prompt none → "b", in this chat.')
            await it.pilot.press(*"/system b", "down", "enter")
            await it.sees('System prompt "b" → brief')
            await it.pilot.press(*"/system pi", "tab", "enter")
            await it.sees("→ pirate")

    async def test_one_is_kept_from_the_chat_for_other_chats(self, by_name: ByName) -> None:
        async with chat(FakeClient([answer("ok")]), by_name=by_name, size=(140, 34)) as it:
            await replies(it, "/system-save", "/system-save takes a name for the system prompt of this chat.")
            await replies(it, "/system-save cook", "This chat has no system prompt that could be kept.")
            await it.send("/system You are a cook.")
            await replies(it, "/system-save brief", "settings.toml has a system prompt called brief; choose another")
            await replies(it, "/system-save pirate", "There is another system prompt called pirate")
            assert it.composer.text == "/system-save pirate"
            await replies(it, "/system-save my cook", 'Kept "You are a cook." as my cook: /system my cook uses it')
            await it.ask("hi")
            await it.pilot.press("ctrl+n")
            await it.until(lambda: it.screen.chat.empty)
            await replies(it, "/system my cook", 'System prompt none → my cook ("You are a cook."), in this chat.')
        prompts = by_name.prompts
        assert [prompt.name for prompt in prompts.all().values()] == ["brief", "my cook", "pirate"]

    async def test_of_two_names_the_one_it_was_given_by_is_shown(self, by_name: ByName) -> None:
        async with chat(FakeClient([answer("ok")]), by_name=by_name, size=(140, 34)) as it:
            await it.send("/system pirate")
            await replies(it, "/system-save a copy", "as a copy: /system a copy uses it")
            await replies(it, "/system", 'The system prompt is pirate ("Talk like a pirate. Always.").')
            await replies(it, "/system none", "→ none, in this chat.")
            await replies(it, "/system-save nothing", "This chat has no system prompt that could be kept.")
            await it.send("")
            await replies(it, "/system pirate", 'System prompt none → pirate ("Talk like a pirate. Always.")')
            await replies(it, "/system Talk.", "pirate", '→ "Talk."')
            assert own(it) == {"system": "Talk."}

    async def test_one_is_forgotten_and_chats_keep_its_text(self, by_name: ByName) -> None:
        async with chat(by_name=by_name, size=(140, 34)) as it:
            await it.send("/system pirate")
            await replies(it, "/system-forget brief", "brief stands in settings.toml, which Slipstream only reads")
            await replies(it, "/system-forget nobody", "No system prompt is kept as nobody.")
            await replies(it, "/system-forget", "/system-forget takes the name of a system prompt")
            await replies(it, "/system-forget pirate", 'Forgot pirate, which was "Talk like a pirate. Always."')
            assert own(it) == {"system": "Talk like a pirate.\nAlways.", "system_name": "pirate"}
            await replies(it, "/system", 'The system prompt is "Talk like a pirate. Always."')
            await replies(it, "/system-forget pirate", "No system prompt was kept with /system-save")

    async def test_prompts_that_cannot_be_read_are_said(self, tmp_path: Path) -> None:
        file = tmp_path / "system-prompts.json"
        file.write_text("{")
        async with chat(by_name=ByName(prompts=SystemPrompts({}, file)), size=(140, 34)) as it:
            await replies(
                it, "/system pirate", 'none → "pirate", in this chat. The system prompts in', "cannot be read"
            )
            await replies(it, "/system-save pirate", "cannot be read: It is damaged. It stays as it is")
            assert file.read_text() == "{"


class TestThinking:
    @staticmethod
    def client(thinking: Thinking) -> FakeClient:
        template = TEMPLATE.model_copy(update={"thinking": thinking})
        loaded = pair().model_copy(update={"template": template})
        return FakeClient([answer("ok")], loads=[[Loaded(id=0, pair=loaded)]])

    async def test_it_is_switched_where_the_template_lets_one_choose(self) -> None:
        client = self.client("switchable")
        async with chat(client) as it:
            await replies(it, "/thinking", "thinking is auto; /thinking takes on, off or auto.")
            await replies(it, "/thinking off", "thinking auto → off, in this chat.")
            await it.sees("thinking off")
            await replies(it, "/thinking maybe", "/thinking takes on, off or auto, not maybe. It stays off.")
            await it.ask("hi")
            assert client.asked[0].thinking is False
            await it.send("/thinking default")
            await it.sees("thinking off → auto")
            assert own(it) == {}

    @pytest.mark.parametrize(
        ("thinking", "words"),
        [
            ("none", "The chat template of this model knows no thinking."),
            ("always", "This model always thinks before it answers; its chat template lets nobody choose."),
        ],
    )
    async def test_where_there_is_no_choice_it_says_so(self, thinking: Thinking, words: str) -> None:
        async with chat(self.client(thinking)) as it:
            assert "thinking" not in {command.name for command in commands.offered(it.screen)}
            await replies(it, "/thinking off", words)
            it.screen.keep_settings({"thinking": True})  # by another model
            await replies(it, "/thinking default", "thinking on → auto, in this chat.")


class TestAdvanced:
    async def test_every_sampler_is_a_command(self) -> None:
        client = FakeClient([answer("ok")])
        async with chat(client, size=(140, 34)) as it:
            await replies(it, "/typical 0.9", "typical 1 → 0.9, in this chat.")
            await replies(it, "/dry-breakers . \\n", 'dry-breakers \\n : " * → . \\n, in this chat.')
            await replies(it, "/logit-bias 198=-5", "logit-bias none → 198=-5, in this chat.")
            await replies(it, '/grammar root ::= "yes"', 'grammar none → root ::= "yes", in this chat.')
            await replies(
                it,
                '/json-schema {"type": "object"}',
                'json-schema none → {"type": "object"}, grammar root ::= "yes" → none, in this chat.',
            )
            await replies(it, "/repeat-penalty 0", "/repeat-penalty takes 0.01 to 100 (1: off), not 0. It stays 1.")
            await it.sees("typical 0.9", "+2")
            await it.ask("hi")
            sampling = client.asked[0].sampling
            assert (sampling.typical_p, sampling.dry_sequence_breakers) == (0.9, (".", "\n"))
            assert (sampling.logit_bias, sampling.grammar) == ({198: -5.0}, None)
            assert sampling.json_schema == '{"type": "object"}'

    async def test_the_list_behind_a_slash_stays_short_and_typing_finds_them(self) -> None:
        async with chat() as it:
            await it.pilot.press("/")
            await it.until(lambda: suggested(it))
            assert not [value for value in suggested(it) if value.startswith(("/dry", "/xtc", "/typical"))]
            assert "/temp " in suggested(it)
            assert "/settings" in suggested(it)
            await it.pilot.press(*"dry")
            await it.until(lambda: "/dry-multiplier " in suggested(it))
            assert len(suggested(it)) == 5
