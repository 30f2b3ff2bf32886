"""ctrl+t: who proposes tokens for the next answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.by_name import ByName
from app.last_choice import Memory
from app.tui.widgets.key_bar import fitting
from engine.protocol import GenerateSettings, Loaded
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, model, pair, says
from tests.app.tui.harness import chat


def with_draft(**more: object) -> FakeClient:
    loaded = pair(draft=model("/m/Qwen3-0.6B-Q8_0.gguf", "x"))
    return FakeClient([answer("One."), answer("Two.")], loads=[[Loaded(id=0, pair=loaded)]])


async def test_the_choice_holds_from_the_next_answer_on() -> None:
    client = with_draft()
    async with chat(client) as it:
        await it.ask("first")
        await it.pilot.press("ctrl+t")
        await it.sees("speculation for the next answer", "● auto", "○ off", "○ lookup", "○ draft   Qwen3-0.6B Q8_0")
        await it.pilot.press("up", "enter")
        await it.until(lambda: it.composer.has_focus)
        await it.sees("draft · temp 0.7")
        await it.ask("second")
    assert [settings.speculation for settings in client.asked] == ["auto", "draft"]


async def test_what_is_impossible_says_why_and_cannot_be_chosen() -> None:
    client = FakeClient(
        [answer("ok")], loads=[[Loaded(id=0, pair=pair(refused="vocabulary differs, first at id 1204"))]]
    )
    async with chat(client) as it:
        await it.pilot.press("ctrl+t")
        await it.sees("✕ draft   vocabulary differs, first at id 1204")
        await it.pilot.press("up", "enter")  # from auto over draft to lookup
        await it.until(lambda: it.composer.has_focus)
        assert it.screen.mode == "lookup"


async def test_the_badge_follows_what_the_engine_finds_out() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.ask("first")
        await it.sees("untested")
        client.on_pair_change(pair().model_copy(update={"badge": "exact"}))
        await it.until(lambda: "untested" not in it.shown)
        await it.sees("exact")


async def test_the_first_row_names_the_backend_and_the_layers_on_it() -> None:
    on_gpu = model().model_copy(update={"gpu_layers": 31})
    loaded = pair().model_copy(update={"target": on_gpu, "backend": "CUDA0 (NVIDIA RTX 4090)"})
    async with chat(FakeClient(loads=[[Loaded(id=0, pair=loaded)]])) as it:
        await it.sees("CUDA0 31/31")
    async with chat() as it:
        await it.sees("· CPU ·")


async def test_without_a_draft_model_the_reason_is_said() -> None:
    async with chat() as it:
        await it.pilot.press("ctrl+t")
        await it.sees("✕ draft   no draft model chosen")


async def test_esc_closes_and_changes_nothing() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        await it.pilot.press("ctrl+t", "down")
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.has_focus)
        assert it.screen.mode == "auto"
        assert client.cancels == 0, "esc closed the switch and did not stop the answer"
        client.go("end")
        await it.until(lambda: it.idle)


async def test_a_choice_during_an_answer_is_for_the_next_one() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")], answer("Next.")])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        await it.pilot.press("ctrl+t", "home", "enter")
        await it.sees("speculation auto → off, in this chat, from the next answer on.")
        client.go("end")
        await it.until(lambda: it.idle)
        await it.ask("next")
    assert [settings.speculation for settings in client.asked] == ["auto", "off"]


async def test_a_draft_that_is_not_there_is_not_promised() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client, defaults=GenerateSettings(messages=(), speculation="draft")) as it:
        await it.sees("draft › lookup · temp")
    loaded = pair(draft=model("/m/Qwen3-0.6B-Q8_0.gguf", "x"))
    client = FakeClient(loads=[[Loaded(id=0, pair=loaded)]])
    async with chat(client, defaults=GenerateSettings(messages=(), speculation="draft")) as it:
        await it.sees("draft · temp")


async def test_the_footer_names_the_switchs_keys_and_cuts_none() -> None:
    async with chat(size=(60, 20)) as it:
        await it.pilot.press("ctrl+t")
        await it.sees("enter choose", "↑↓ move", "esc back")
        await it.pilot.resize_terminal(48, 20)
        await it.until(lambda: it.app.size.width == 48)
        await it.until(lambda: it.footer.strip() == "↑↓ move enter choose esc back ctrl+p all")
        await it.pilot.press("escape")
        await it.until(lambda: it.footer.strip() == "enter send ctrl+j line ctrl+o chats ctrl+p all")


def test_entries_that_do_not_fit_are_left_out_whole() -> None:
    assert fitting([10, 10, 10], 40, 2, [False] * 3) == [True, True, True]
    assert fitting([10, 20, 5, 10], 40, 2, [False] * 4) == [True, False, True, True]
    assert fitting([20, 12, 5, 10], 36, 2, [False] * 4) == [True, False, False, True]
    assert fitting([20, 12, 5, 10], 36, 2, [False, False, True, False]) == [False, True, True, True]
    assert fitting([], 40, 2, []) == []


async def test_what_is_chosen_holds_for_new_chats_and_the_next_start(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "last.json")
    async with chat(FakeClient([answer("ok")]), memory=memory) as it:
        await it.ask("first")
        await it.send("/spec lookup")
        await it.sees("speculation auto → lookup, in this chat and in new ones.")
        await it.send("/spec lookup")
        await it.sees("speculation is lookup already.")
        assert memory.read().speculation == "lookup"
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.empty)
        assert it.screen.mode == "lookup"
        assert it.app.by_name.origins["speculation"] == "chosen last"
        await it.pilot.press("ctrl+t", "home", "enter")
        await it.sees("speculation lookup → off, in this chat and in new ones.")
        assert memory.read().speculation == "off"


async def test_what_a_chat_had_alone_may_be_chosen_for_new_ones(tmp_path: Path) -> None:
    async with chat(FakeClient([answer("ok")]), memory=Memory(tmp_path / "last.json")) as it:
        await it.ask("first")
        it.screen.keep_settings({"speculation": "lookup"})
        await it.send("/spec lookup")
        await it.sees("speculation is lookup already, from now on in new chats, too.")


@pytest.mark.parametrize("origin", ["settings.toml", "command line"])
async def test_what_stands_above_it_is_not_overruled_for_new_chats(tmp_path: Path, origin: str) -> None:
    memory = Memory(tmp_path / "last.json")
    async with chat(FakeClient([answer("ok")]), memory=memory, by_name=ByName(origins={"speculation": origin})) as it:
        await it.ask("first")
        await it.send("/spec off")
        await it.sees("speculation auto → off, in this chat.")
        assert memory.read().speculation is None
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.empty)
        assert it.screen.mode == "auto"
