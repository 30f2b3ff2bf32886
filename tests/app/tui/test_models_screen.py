"""ctrl+l: what there is, what it means, and which of it answers from now on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.clean import clean
from app.library.records import Entry, State
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.facts import Facts
from app.tui.widgets.model_table import ModelTable
from engine.protocol import ErrorCode, LoadSettings, ModelFile
from tests.app.tui.fake_client import LOAD, MODEL_PATH, FakeClient, Wait, answer, ends, failure, says
from tests.app.tui.fake_shelf import CUT, DRAFT, DRAFT_PATH, LARGE, MISTRAL, MISTRAL_PATH, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import Chat, chat


async def opened(it: Chat) -> ModelsScreen:
    """The Models screen, with its list."""
    await it.pilot.press("ctrl+l")
    await it.until(lambda: isinstance(it.app.screen, ModelsScreen), "the screen")
    screen = it.app.screen
    assert isinstance(screen, ModelsScreen)
    await it.until(lambda: screen.entry is not None, "the list")
    return screen


async def move_to(it: Chat, screen: ModelsScreen, entry: Entry) -> None:
    """Highlight ``entry`` with the keys, and wait for its details."""
    await it.pilot.press("home")
    for _ in range(30):
        if screen.entry is not None and screen.entry.key == entry.key:
            break
        await it.pilot.press("down")
    await it.until(lambda: clean(f"All about {entry.title}.") in screen.query_one(Facts).text, "the details")


async def test_one_list_of_pairs_and_of_files_wherever_they_are() -> None:
    async with chat(shelf=FakeShelf(), size=(120, 40)) as it:
        it.composer.text = "half a message"
        await opened(it)
        await it.sees(
            "free disk 53.0 GB · memory 24.0 GB, 22.0 GB free · 2 cores · CPU",
            "● SmolLM2-135M + lookup",
            "42 tok/s 1.04x",
            "in use",
            "Qwen3-4B with 0.6B",
            "3.1 GB",
            "5.8 GB",
            "not here",
            "partly here, 1.3 of 6.2 GB",
            "not here, does not fit",
            "on this disk (LM Studio)",
            "ready, read in place",
            "not whole",
        )
        assert "– " in next(line for line in it.lines if "Qwen3-4B with" in line), "no speed that was not measured"
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.has_focus)
        assert it.composer.text == "half a message"


async def test_the_footer_shows_what_works_for_the_highlighted_entry() -> None:
    async with chat(shelf=FakeShelf(), size=(120, 40)) as it:
        await it.sees("ctrl+l models")
        screen = await opened(it)
        await it.until(lambda: "enter use" in it.footer and "/ search" in it.footer and "esc back" in it.footer)
        assert "enter get" not in it.footer
        await move_to(it, screen, QWEN)
        await it.until(lambda: "enter get" in it.footer)
        assert "del delete" not in it.footer
        await move_to(it, screen, DRAFT)
        await it.until(lambda: "d as draft" in it.footer and "del delete" in it.footer)
        await move_to(it, screen, CUT)
        await it.until(lambda: "enter" not in it.footer)
        await it.sees("the file is cut off: 7 of 8 MB are there")


async def test_the_palette_leads_there_too() -> None:
    async with chat(shelf=FakeShelf()) as it:
        await it.pilot.press("ctrl+p", *"models")
        await it.sees("ctrl+l: use, fetch and delete models")
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen))
        await it.pilot.press("ctrl+l")
        await it.until(lambda: it.app.screen is it.screen)


async def test_without_a_library_the_key_is_not_offered() -> None:
    async with chat() as it:
        await it.pilot.press("ctrl+l")
        assert "ctrl+l" not in it.footer
        assert it.app.screen is it.screen


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


async def test_search_narrows_the_list_and_esc_shows_all_again() -> None:
    async with chat(shelf=FakeShelf(), size=(120, 40)) as it:
        screen = await opened(it)
        await it.pilot.press("slash", *"studio")
        await it.until(lambda: "Qwen3-4B with" not in it.shown and "mistral-7b" in it.shown)
        await it.pilot.press("enter")
        await it.until(lambda: screen.query_one(ModelTable).has_focus and screen.entry is not None)
        assert screen.entry is not None
        assert screen.entry.key == MISTRAL.key
        await it.pilot.press("slash", *" zz")
        await it.sees("Nothing here is called studio zz. esc shows everything again.")
        await it.pilot.press("escape")
        await it.sees("Qwen3-4B with 0.6B", "mistral-7b")


async def test_letters_typed_into_the_search_are_no_commands() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf) as it:
        await opened(it)
        await it.pilot.press("slash", *"dxpg", "delete")
        await it.sees("Nothing here is called dxpg.")
        assert shelf.did == []


async def test_the_highlight_stays_where_it_is_when_the_list_is_read_again() -> None:
    shelf = FakeShelf()
    async with chat(shelf=shelf) as it:
        screen = await opened(it)
        await move_to(it, screen, MISTRAL)
        shelf.entries = (replace(STARTER, key="new", title="A new one"), *shelf.entries)
        await it.pilot.press("r")
        await it.sees("A new one")
        assert screen.entry is not None
        assert screen.entry.key == MISTRAL.key


async def test_a_list_that_cannot_be_read_says_what_to_do() -> None:
    words = "The folder /home/you/models cannot be read: permission denied. Nothing was changed; r looks again."
    shelf = FakeShelf(listing_error=words)
    async with chat(shelf=shelf, size=(120, 40)) as it:
        await it.pilot.press("ctrl+l")
        await it.sees(words)
        shelf.listing_error = ""
        await it.pilot.press("r")
        await it.sees("SmolLM2-135M + lookup")


async def test_mistakes_in_the_users_catalogue_are_said() -> None:
    words = 'models.toml: entry "mine", field target: it is missing; the entry is left out.'
    async with chat(shelf=FakeShelf(complaints=(words,)), size=(120, 40)) as it:
        await opened(it)
        await it.sees(words)


async def test_a_click_chooses_and_a_second_one_acts() -> None:
    client = FakeClient()
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        screen = await opened(it)
        row = next(number for number, line in enumerate(it.lines) if "mistral-7b" in line)
        await it.pilot.click(offset=(10, row))
        await it.until(lambda: screen.entry is not None and screen.entry.key == MISTRAL.key)
        assert isinstance(it.app.screen, ModelsScreen)
        await it.pilot.click(offset=(10, row))
        await it.until(lambda: len(client.loaded) == 2)


async def test_foreign_names_steer_no_terminal() -> None:
    evil = replace(MISTRAL, title="evil\x1b[2J\x9b\u202ename", trouble="bad\x1b]52;c;eA==\x07 header")
    async with chat(shelf=FakeShelf([STARTER, evil]), size=(120, 40)) as it:
        screen = await opened(it)
        await move_to(it, screen, evil)
        await it.sees("evil␛[2J��name")
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(it.shown)


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (48, 12)])
async def test_small_terminals_show_name_and_state(size: tuple[int, int]) -> None:
    async with chat(shelf=FakeShelf(), size=size) as it:
        await opened(it)
        await it.sees("SmolLM2-135M", "in use", "not here")
        assert all(len(line.rstrip()) <= size[0] for line in it.lines)


async def test_without_colours_everything_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chat(shelf=FakeShelf(), size=(80, 24)) as it:
        await opened(it)
        await it.sees("● SmolLM2-135M", "in use", "partly here, 1.3 of 6.2 GB", "not here, does not fit")


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
