"""ctrl+l: what there is, and what it means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.tui.screens.models import ModelsScreen
from app.tui.widgets.model_table import ModelTable
from tests.app.tui.fake_client import FakeClient
from tests.app.tui.fake_shelf import CUT, DRAFT, LARGE, MISTRAL, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened


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


async def test_a_name_of_the_hub_is_asked_for_by_enter_and_the_footer_says_so() -> None:
    async with chat(shelf=FakeShelf(), size=(80, 24)) as it:
        await opened(it)
        await it.pilot.press("slash", *"owner")
        await it.until(lambda: "enter to the list" in it.footer)
        await it.pilot.press(*"/repo")
        await it.sees("Nothing here is called owner/repo. enter asks the hub for it")
        await it.until(lambda: "enter ask the hub" in it.footer and "to the list" not in it.footer)
        await it.pilot.press("enter")
        await it.sees("Fetch 3.1 GB?")


async def test_why_something_cannot_be_fetched_stands_before_the_plan() -> None:
    shelf = FakeShelf(refusal="The disk has 1.0 GB free, and 20.4 GB are to be fetched; nothing was fetched.")
    async with chat(shelf=shelf, size=(60, 20)) as it:
        await move_to(it, await opened(it), LARGE)
        await it.pilot.press("enter")
        await it.sees("Qwen3-32B with 0.6B cannot be fetched. The disk has 1.0 GB free, and 20.4 GB are to be fetched;")
