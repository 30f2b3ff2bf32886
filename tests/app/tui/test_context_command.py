"""``/context`` and ``/overflow``."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library import window
from app.tui.command_context import read_size
from app.tui.widgets.overflow_picker import OverflowPicker
from engine.protocol import Loaded
from tests.app.tui.fake_client import LOAD, FakeClient, Step, Wait, answer, ends, model, pair, says, stats
from tests.app.tui.harness import Chat, chat
from tests.fixtures.headers import write_model

RANGE = "/context takes 16 to 2,147,483,647 tokens, as in 16384 or 16k"


def small(*scripts: list[Step], context: int = 2048) -> FakeClient:
    return FakeClient(list(scripts), loads=[[Loaded(id=0, pair=pair(context=context))]])


async def shown(it: Chat) -> None:
    await it.until(lambda: it.screen.query_one(OverflowPicker).display, "the question")


# ------------------------------------------------------------------------------------------------------- /context


async def test_it_shows_how_full_the_context_is_and_what_can_be_done() -> None:
    async with chat(small(answer("Yes.", figures=stats(548, prompt=1000))), size=(120, 34)) as it:
        await it.ask("one")
        await it.send("/context")
        await shown(it)
        await it.sees(
            "context: 1,548 of 2,048 tokens are used, 76 %",
            "○ drop the oldest turns",
            "whenever it is full, from now on; they stay in the chat",
            "○ larger context",
            "4,096 tokens",
            "○ leave it as it is",
            "you are asked when it is full",
        )
        await it.pilot.press("escape")
        await it.until(lambda: not it.screen.query_one(OverflowPicker).display)
        assert it.notice == "", "nothing was asked for, so nothing is said"
        assert it.composer.has_focus


async def test_a_click_on_the_meter_shows_it_too() -> None:
    async with chat(size=(120, 34)) as it:
        await it.pilot.click(offset=(115, 0))
        await shown(it)
        await it.pilot.press("escape")
        await it.until(lambda: not it.screen.query_one(OverflowPicker).display)
        await it.pilot.click(offset=(5, 0))
        await it.settle()
        assert not it.screen.query_one(OverflowPicker).display


async def test_what_holds_already_is_said_instead_of_offered() -> None:
    async with chat(small(), overflow="drop-oldest", size=(120, 34)) as it:
        await it.send("/context")
        await it.sees("context: 0 of 2,048 tokens are used, 0 %", "✕ drop the oldest turns", "done in this chat")


async def test_the_ways_work_without_an_occasion() -> None:
    client = small(answer("Yes."), answer("No."))
    async with chat(client, size=(120, 34)) as it:
        await it.ask("one")
        await it.send("/context")
        await shown(it)
        await it.pilot.press("home", "enter")
        await it.sees("overflow drop-oldest")
        await it.send("/context")
        await shown(it)
        await it.pilot.press("up", "enter")
        await it.sees("/4k")
        assert len(client.asked) == 1, "nothing is sent by itself"
    assert client.loaded[-1] == LOAD.model_copy(update={"context": 4096})


async def test_the_unsent_text_is_there_again() -> None:
    async with chat() as it:
        await it.pilot.press(*"half a message", "ctrl+p", *"context")
        await it.sees("/context: how full it is")
        await it.pilot.press("enter")
        await shown(it)
        assert it.composer.text == "half a message"


@pytest.mark.parametrize(("typed", "size"), [("4096", 4096), ("4,096", 4096), ("4k", 4096), ("16", 16)])
async def test_a_number_loads_the_model_with_it(typed: str, size: int) -> None:
    client = small()
    async with chat(client, size=(120, 34)) as it:
        await it.send(f"/context {typed}")
        await it.until(lambda: len(client.loaded) == 2 and it.screen.answering.state.pair)
        assert it.notice == f"The context becomes {size:,} tokens: the model is loaded anew, the chat stays."
        assert it.composer.text == ""
    assert client.loaded[1].context == size


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("16k", "A context of 16,384 tokens is not possible: the model was trained for 8,192 tokens. It stays 2,048."),
        ("2048", "The context has 2,048 tokens already."),
        ("many", f"{RANGE}, not many. It stays 2,048."),
        ("15", f"{RANGE}, not 15. It stays 2,048."),
        ("0", f"{RANGE}, not 0. It stays 2,048."),
        ("2147483648", f"{RANGE}, not 2147483648. It stays 2,048."),
        ("9" * 30, f"{RANGE}, not {'9' * 30}. It stays 2,048."),
    ],
)
async def test_what_is_not_possible_is_refused_and_stays_typed(typed: str, words: str) -> None:
    client = small()
    async with chat(client) as it:
        await it.send(f"/context {typed}")
        await it.until(lambda: it.notice == words)
        assert it.composer.text == f"/context {typed}"
        assert len(client.loaded) == 1


async def test_memory_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_model(tmp_path / "m.gguf", layers=32, width=4096, heads=32, kv_heads=32)
    monkeypatch.setattr(window, "available_memory", lambda: 1_000_000_000)
    loaded = pair(context=2048).model_copy(update={"target": model(str(file))})
    async with chat(FakeClient(loads=[[Loaded(id=0, pair=loaded)]])) as it:
        await it.send("/context 8k")
        await it.until(lambda: it.notice != "")
        assert it.notice == (
            "A context of 8,192 tokens is not possible: 8,192 tokens need 2.7 GB more than is free. It stays 2,048."
        )


async def test_a_running_answer_ends_first() -> None:
    client = small([*says("Slow"), Wait("end"), ends("Slow")])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        await it.send("/context 4k")
        await it.sees("The context becomes 4,096 tokens")
        assert len(client.loaded) == 1
        client.go("end")
        await it.until(lambda: it.idle and len(client.loaded) == 2)
    assert client.cancels == 0


async def test_without_a_model_there_is_no_context() -> None:
    async with chat(load=None) as it:
        await it.send("/context 4k")
        await it.sees("No model is loaded, so there is no context yet.")


def test_sizes_as_they_are_typed() -> None:
    assert [read_size(typed) for typed in ("16384", "16,384", "16.384", "16k", "16K", "131072")] == [
        16_384, 16_384, 16_384, 16_384, 16_384, 131_072,
    ]  # fmt: skip
    assert [read_size(typed) for typed in ("", "k", "-1", "1.5k", "16 k", "0x10", "16kk")] == [None] * 7


# ------------------------------------------------------------------------------------------------------ /overflow


async def test_what_happens_when_it_is_full_is_set_for_one_chat_and_shown() -> None:
    client = FakeClient([answer("Yes."), answer("No."), answer("Yes.")])
    async with chat(client, size=(120, 34)) as it:
        assert "overflow" not in it.shown
        await it.send("/overflow drop-oldest")
        await it.sees("overflow drop-oldest")
        assert it.notice == (
            "overflow ask → drop-oldest, in this chat: when it is full, the model sees the newest turns only; "
            "all stay in the chat."
        )
        await it.send("/overflow drop-oldest")
        await it.sees("overflow is drop-oldest already, in this chat")
        await it.ask("one")
        await it.send("/overflow")
        await it.sees("overflow is drop-oldest: when this chat is full, the model sees the newest turns only")
        await it.send("/overflow default")
        await it.sees("overflow drop-oldest → ask")
        await it.ask("two")
        assert it.screen.chat.conversation.settings == {}
        await it.send("/overflow stop")
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.empty)
        await it.until(lambda: "overflow stop" not in it.lines[-2])
        await it.ask("three")
    assert [settings.overflow for settings in client.asked] == ["drop-oldest", "stop", "stop"]


async def test_a_word_that_is_none_is_refused() -> None:
    async with chat() as it:
        await it.send("/overflow never")
        await it.sees("/overflow takes ask, stop, drop-oldest or default, not never. It stays ask.")
        assert it.composer.text == "/overflow never"


async def test_its_words_are_suggested() -> None:
    async with chat(size=(120, 34)) as it:
        await it.pilot.press(*"/overflow ")
        await it.sees("you are asked what to do", "nothing is sent, and the reason is said", "ask, as for every chat")
