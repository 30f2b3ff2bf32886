"""The empty chat of somebody who has used nothing but the starter, and what is remembered of their choice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.last_choice import LastChoice, Memory
from app.library.records import State, Suggestion
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.filter_box import FilterBox
from app.tui.widgets.first_steps import FirstSteps, steps
from app.tui.widgets.welcome import Welcome
from engine.protocol import Device, ErrorCode
from tests.app.tui.fake_client import LOAD, FakeClient, Wait, answer, failure
from tests.app.tui.fake_shelf import DRAFT, DRAFT_PATH, MISTRAL, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import Chat, chat
from tests.app.tui.models_screen import move_to, opened

FOUND = (("LM Studio", 2), ("Ollama", 1))
SUGGESTED = Suggestion(STARTER, QWEN, QWEN.size or 0, FOUND)


async def suggested(it: Chat) -> FirstSteps:
    """The list, with what was found."""
    await it.sees("LM Studio 2, Ollama 1")
    return it.screen.query_one(FirstSteps)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_three_ways_to_begin(size: tuple[int, int]) -> None:
    async with chat(shelf=FakeShelf(suggested=SUGGESTED), first_run=True, size=size) as it:
        await suggested(it)
        await it.sees(
            "start now with SmolLM2-135M",
            "98 MB, already here",
            "get the best pair for this machine",
            "Qwen3-4B with 0.6B, 3.1 GB, 5.8 GB of memory: fits",
            "use a model file on this disk",
            "3 found: LM Studio 2, Ollama 1",
        )
        assert it.composer.has_focus
        assert all(len(line.rstrip()) <= size[0] for line in it.lines)


async def test_looking_at_the_disk_holds_nothing_up() -> None:
    shelf = FakeShelf(suggested=SUGGESTED)
    shelf.looks.clear()
    async with chat(FakeClient([answer("Here.")]), shelf=shelf, first_run=True, size=(120, 40)) as it:
        await it.sees("looking at this machine…", "looking at this disk…", "start now with SmolLM2-135M")
        await it.pilot.press(*"hi")
        assert it.composer.text == "hi"
        shelf.looks.set()
        await suggested(it)


@pytest.mark.parametrize("text", ["b is a letter", "o", "best rivers?", " x"])
async def test_whatever_is_typed_becomes_the_message(text: str) -> None:
    async with chat(FakeClient([answer("Yes.")]), shelf=FakeShelf(suggested=SUGGESTED), first_run=True) as it:
        listed = await suggested(it)
        await it.pilot.press(*text)
        assert it.composer.text == text
        it.composer.text = ""
        await it.pilot.press("tab")
        await it.until(lambda: listed.has_focus)
        await it.pilot.press(*text)
        await it.until(lambda: it.composer.has_focus)
        assert it.composer.text == text
        await it.pilot.press("enter")
        await it.until(lambda: it.answers and it.idle)
        assert not it.screen.query_one(Welcome).display


async def test_tab_leads_to_the_list_and_esc_back() -> None:
    async with chat(shelf=FakeShelf(suggested=SUGGESTED), first_run=True, size=(120, 40)) as it:
        listed = await suggested(it)
        await it.pilot.press("tab")
        await it.until(lambda: listed.has_focus and "enter choose" in it.footer)
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.has_focus)
        await it.pilot.press("tab", "enter")  # start now
        await it.until(lambda: it.composer.has_focus)
        assert it.app.screen is it.screen


async def test_the_best_pair_is_asked_for_only_when_it_is_chosen_and_its_plan_comes_first() -> None:
    shelf = FakeShelf(suggested=SUGGESTED)
    async with chat(shelf=shelf, first_run=True, size=(120, 40)) as it:
        await suggested(it)
        assert shelf.did == []
        await it.pilot.press("tab", "down", "enter")
        await it.sees("Fetch 3.1 GB?", "Apache-2.0", "49.9 GB afterwards")
        assert shelf.did == [("plan", QWEN.key)]
        await it.pilot.press("enter")
        await it.until(lambda: ("start", QWEN.key) in shelf.did)


async def test_a_click_chooses_as_well() -> None:
    shelf = FakeShelf(suggested=SUGGESTED)
    async with chat(shelf=shelf, first_run=True, size=(120, 40)) as it:
        await suggested(it)
        row = next(number for number, line in enumerate(it.lines) if "get the best pair" in line)
        await it.pilot.click(offset=(it.lines[row].index("get the best") + 3, row))
        await it.sees("Fetch 3.1 GB?")


async def test_files_on_this_disk_are_shown_by_themselves() -> None:
    async with chat(shelf=FakeShelf(suggested=SUGGESTED), first_run=True, size=(120, 40)) as it:
        await suggested(it)
        await it.pilot.press("tab", "down", "down", "enter")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen))
        await it.sees("mistral-7b-instruct-v0.3 Q4_K_M", "Qwen3-0.6B Q8_0")
        assert "Qwen3-4B with" not in it.shown
        assert it.app.screen.query_one(FilterBox).value == "on this disk"
        await it.pilot.press("slash", "escape")
        await it.sees("Qwen3-4B with 0.6B")


async def test_who_has_chosen_a_model_is_not_asked_again() -> None:
    client = FakeClient()
    async with chat(client, shelf=FakeShelf(suggested=SUGGESTED), first_run=True, size=(120, 40)) as it:
        await suggested(it)
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.sees("mistral-7b-v0.3 answers here.")
        assert "get the best pair" not in it.shown


async def test_a_machine_for_which_there_is_nothing_says_so() -> None:
    async with chat(shelf=FakeShelf(suggested=Suggestion(STARTER, None)), first_run=True, size=(120, 40)) as it:
        await it.sees("none of the catalogue fits here", "none found")
        await it.pilot.press("tab", "down", "enter")
        await it.until(lambda: it.composer.has_focus)
        assert it.app.screen is it.screen, "only the first entry can be chosen"


def test_what_the_entries_say() -> None:
    begun = replace(SUGGESTED, missing=1_000_000_000)
    assert steps(begun, "SmolLM2")[1].more == "Qwen3-4B with 0.6B, 1.0 GB of 3.1 GB to get, 5.8 GB of memory: fits"
    unknown = replace(SUGGESTED, best=replace(QWEN, size=None), missing=1_100_000_000)
    assert steps(unknown, "SmolLM2")[1].more == "Qwen3-4B with 0.6B, more than 1.1 GB, 5.8 GB of memory: fits"
    here = replace(SUGGESTED, best=replace(QWEN, state=State.READY, target="/m/q.gguf"), missing=0)
    assert steps(here, "SmolLM2")[1].what == "use the best pair for this machine"
    assert [step.action for step in steps(SUGGESTED, None)] == ["best", "local"]
    assert "\x1b" not in "".join(step.more for step in steps(SUGGESTED, "SmolLM2"))


async def test_not_at_the_first_run_nothing_is_looked_for() -> None:
    shelf = FakeShelf(suggested=SUGGESTED)
    async with chat(shelf=shelf) as it:
        await it.sees("SmolLM2-135M answers here.")
        assert "get the best pair" not in it.shown


# ------------------------------------------------------------------------------------------------- what is remembered


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "last-choice.json")


async def test_a_pair_is_remembered_once_it_is_loaded(memory: Memory) -> None:
    client = FakeClient(loads=[[], [Wait("loading")]])
    ready = replace(QWEN, state=State.READY, target="/m/qwen.gguf", draft=DRAFT_PATH)
    async with chat(client, shelf=FakeShelf([STARTER, ready]), memory=memory) as it:
        await move_to(it, await opened(it), ready)
        await it.pilot.press("enter")
        await it.until(lambda: len(client.loaded) == 2)
        assert memory.read() == LastChoice()
        client.go("loading")
        await it.until(lambda: memory.read().target)
    assert memory.read() == LastChoice(target="/m/qwen.gguf", draft=DRAFT_PATH, context=8192)


async def test_a_pair_that_cannot_be_loaded_is_not_remembered(memory: Memory) -> None:
    words = "The file mistral.gguf is cut off: 12 of 98 MB are there. Fetch it again; your chats are kept."
    client = FakeClient(loads=[[], [failure(ErrorCode.TRUNCATED_GGUF, words)]])
    async with chat(client, shelf=FakeShelf(), memory=memory, size=(120, 40)) as it:
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.sees("SmolLM2-135M answers as before.")
    assert memory.read() == LastChoice()


async def test_a_draft_is_remembered_with_its_target_and_that_one_may_propose(memory: Memory) -> None:
    client = FakeClient()
    memory.keep_pair(LOAD.target.path, "", 2048)
    async with chat(client, shelf=FakeShelf(), memory=memory, size=(120, 40)) as it:
        await it.pilot.press("ctrl+t", "home", "enter")  # off
        await it.until(lambda: memory.read().speculation == "off")
        await move_to(it, await opened(it), DRAFT)
        await it.pilot.press("d")
        await it.until(lambda: memory.read().draft)
    assert memory.read() == LastChoice(target=LOAD.target.path, draft=DRAFT_PATH, context=2048, speculation="auto")


async def test_the_starter_is_not_written_down_as_a_choice(memory: Memory) -> None:
    async with chat(FakeClient([answer("Yes.")]), shelf=FakeShelf(), memory=memory) as it:
        await it.ask("hello")
    assert memory.read() == LastChoice()


async def test_gpus_that_the_engine_found_count_in_the_list() -> None:
    card = Device(name="CUDA0", description="a card", kind="gpu", memory_total=24 * 10**9, memory_free=20 * 10**9)
    client, shelf = FakeClient(devices=(card,)), FakeShelf()
    async with chat(client, shelf=shelf) as it:
        await opened(it)
        await it.until(lambda: shelf.gpus)
    assert [gpu.name for gpu in shelf.gpus] == ["CUDA0"]


async def test_without_a_gpu_main_memory_alone_counts() -> None:
    shelf = FakeShelf()
    async with chat(FakeClient(), shelf=shelf) as it:
        await opened(it)
    assert shelf.gpus == ()
