"""ctrl+l: which model answers from now on, and which one proposes."""

from __future__ import annotations

from dataclasses import replace

from app.library.records import State
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.model_table import ModelTable
from engine.protocol import ErrorCode, LoadSettings, ModelFile
from tests.app.tui.fake_client import LOAD, MODEL_PATH, FakeClient, Wait, answer, ends, failure, says
from tests.app.tui.fake_shelf import DRAFT, DRAFT_PATH, LARGE, MISTRAL, MISTRAL_PATH, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened


async def test_enter_uses_a_pair_and_the_chat_goes_on_with_it() -> None:
    client = FakeClient([answer("From the first."), answer("From the second.")])
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await it.ask("one")
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen)
        await it.sees("mistral-7b-instruct-v0.3 Q4_K_M answers from now on; the chat stays.")
        await it.sees("mistral-7b-v0.3 Q4_K_M + lookup")
        await it.ask("two")
    assert [load.target.path for load in client.loaded] == [MODEL_PATH, MISTRAL_PATH]
    assert [message.content for message in client.asked[1].messages] == ["one", "From the first.", "two"]


async def test_what_is_in_use_is_not_loaded_again() -> None:
    client = FakeClient()
    async with chat(client, shelf=FakeShelf()) as it:
        await opened(it)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen)
    assert client.loaded == [LOAD]


async def test_a_pair_brings_its_context_and_the_settings_of_the_machine_along() -> None:
    asked: list[tuple[str, str, int | None]] = []

    def request(target: str, draft: str, context: int | None) -> LoadSettings:
        asked.append((target, draft, context))
        return LoadSettings(target=ModelFile(path=target), context=context, threads=3)

    client = FakeClient()
    ready = replace(QWEN, state=State.READY, target="/m/qwen.gguf", draft=DRAFT_PATH)
    async with chat(client, shelf=FakeShelf([STARTER, ready]), pair_request=request) as it:
        await move_to(it, await opened(it), ready)
        await it.pilot.press("enter")
        await it.until(lambda: len(client.loaded) == 2)
    assert asked == [("/m/qwen.gguf", DRAFT_PATH, 8192)]
    assert client.loaded[1].threads == 3


async def test_a_running_answer_ends_with_the_model_it_began_with() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")], answer("Next.")])
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await it.send("go")
        await it.sees("Slow")
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen)
        assert len(client.loaded) == 1
        client.go("end")
        await it.until(lambda: it.idle and len(client.loaded) == 2)
        await it.sees("mistral-7b-v0.3 Q4_K_M + lookup")
    assert client.cancels == 0


async def test_a_model_that_is_being_loaded_gives_way() -> None:
    client = FakeClient([answer("Here.")], loads=[[Wait("never")]])
    async with chat(client, shelf=FakeShelf(), loaded=False, size=(120, 40)) as it:
        await it.send("are you there?")
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and it.answers, "the answer of the other model")
        await it.sees("Here.", "mistral-7b-v0.3 Q4_K_M + lookup")


async def test_a_model_that_cannot_be_loaded_leaves_the_one_before_it() -> None:
    words = "The file mistral.gguf is cut off: 12 of 98 MB are there. Fetch it again; your chats are kept."
    client = FakeClient([answer("Still here.")], loads=[[], [failure(ErrorCode.TRUNCATED_GGUF, words)]])
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await move_to(it, await opened(it), MISTRAL)
        await it.pilot.press("enter")
        await it.sees(words, "SmolLM2-135M answers as before.", "SmolLM2-135M Q4_1 + lookup")
        await it.ask("and you?")
        await it.sees("Still here.")
    assert [load.target.path for load in client.loaded] == [MODEL_PATH, MISTRAL_PATH, MODEL_PATH]


async def test_what_does_not_fit_is_used_only_when_asked_twice() -> None:
    huge = replace(LARGE, state=State.READY, target="/m/huge.gguf")
    client = FakeClient()
    async with chat(client, shelf=FakeShelf([STARTER, huge])) as it:
        screen = await opened(it)
        await move_to(it, screen, huge)
        await it.pilot.press("enter")
        await it.sees("Use Qwen3-32B with 0.6B all the same?", "expected not to fit into this machine's memory")
        await it.pilot.press("escape")
        await it.until(lambda: screen.query_one(ModelTable).has_focus)
        assert len(client.loaded) == 1
        await it.pilot.press("enter", "enter")
        await it.until(lambda: len(client.loaded) == 2)


async def test_d_chooses_a_draft_and_the_target_stays() -> None:
    client, shelf = FakeClient([answer("ok")]), FakeShelf()
    load = LOAD.model_copy(update={"context": 2048})
    async with chat(client, shelf=shelf, load=load, size=(120, 40)) as it:
        await it.pilot.press("ctrl+t", "home", "enter")  # off
        await move_to(it, await opened(it), DRAFT)
        await it.pilot.press("d")
        await it.sees("Qwen3-0.6B Q8_0 proposes from now on: same vocabulary; a token costs 0.26 of a pass")
        await it.sees("auto › lookup, draft")
    assert client.loaded[1] == load.model_copy(update={"draft": ModelFile(path=DRAFT_PATH)})
    assert ("judge", DRAFT_PATH) in shelf.did


async def test_a_draft_that_cannot_serve_is_refused_with_the_reason() -> None:
    reason = 'vocabulary differs at id 1204: "the" here, "otherwise" in the draft'
    client = FakeClient()
    async with chat(client, shelf=FakeShelf(verdict=(False, reason)), size=(120, 40)) as it:
        await move_to(it, await opened(it), DRAFT)
        await it.pilot.press("d")
        await it.sees(f"Qwen3-0.6B Q8_0 cannot propose for the model that answers now: {reason}.")
        assert isinstance(it.app.screen, ModelsScreen)
    assert len(client.loaded) == 1


async def test_a_chat_without_a_model_gets_one_here() -> None:
    client = FakeClient([answer("Now there is one.")], pair=None)
    async with chat(client, shelf=FakeShelf(), load=None, size=(120, 40)) as it:
        await it.sees("no model loaded", "ctrl+l shows those that are here and those that can be fetched.")
        await opened(it)
        await it.pilot.press("enter")
        await it.sees("SmolLM2-135M + lookup answers from now on", "SmolLM2-135M Q4_1 + lookup")
        await it.ask("hello")
        await it.sees("Now there is one.")
        assert "those that can be fetched" not in it.shown


async def test_the_draft_of_a_pair_is_found_by_its_name_and_can_answer() -> None:
    client = FakeClient()
    ready = replace(QWEN, state=State.READY, target="/m/qwen.gguf", draft=DRAFT_PATH)
    shelf = FakeShelf([STARTER, ready, MISTRAL], folded=(DRAFT,))
    async with chat(client, shelf=shelf, size=(120, 40)) as it:
        screen = await opened(it)
        assert "Qwen3-0.6B Q8_0" not in it.shown
        await it.pilot.press("/", *"0.6B_Q8-0", "enter")  # a title and a file's name differ in these
        await it.sees("Qwen3-4B with 0.6B", "on this disk", "Qwen3-0.6B Q8_0")
        await it.pilot.press("end")
        await it.until(lambda: screen.entry is not None and screen.entry.key == DRAFT.key, "the draft")
        await it.pilot.press("enter")
        await it.sees("Qwen3-0.6B Q8_0 answers from now on; the chat stays.")
    assert client.loaded[-1].target.path == DRAFT_PATH
