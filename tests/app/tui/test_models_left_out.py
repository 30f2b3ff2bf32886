"""What the list of models lacks is said in a line, and told by a key: the list keeps its place."""

from __future__ import annotations

import pytest

from app.tui.widgets.facts import Facts
from app.tui.widgets.model_table import ModelTable
from tests.app.tui.fake_shelf import QWEN, STARTER, FakeShelf, getting
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to, opened

MANY = tuple(
    f"/home/you/.cache/huggingface/hub/models--org--Model-GGUF/snapshots/c0ffee/part-{number}.gguf: it is a link to a "
    "file that is gone."
    for number in range(5)
)
FOLDED = "Not everything is listed: w says what is left out and why (5 notes)."


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_many_notes_take_one_row(size: tuple[int, int]) -> None:
    rows = []
    for complaints in ((), MANY):
        async with chat(shelf=FakeShelf(complaints=complaints), size=size) as it:
            screen = await opened(it)
            await it.settle()
            rows.append(screen.query_one(ModelTable).size.height)
            assert (FOLDED in it.shown) is bool(complaints)
            assert MANY[0] not in it.shown
    assert rows[0] - rows[1] == 1


async def test_a_key_tells_them_and_gives_the_row_back() -> None:
    async with chat(shelf=FakeShelf(complaints=MANY), size=(80, 24)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        height = screen.query_one(ModelTable).size.height
        await it.pilot.press("w")
        await it.until(lambda: MANY[0] in screen.query_one(Facts).text)
        assert screen.query_one(Facts).text.split("\n") == [
            f"left out  {MANY[0]}",
            *(f"          {words}" for words in MANY[1:]),
        ]
        await it.until(lambda: FOLDED not in it.shown)
        assert screen.query_one(ModelTable).size.height == height + 1
        await it.pilot.press("w")
        await it.until(lambda: f"All about {QWEN.title}." in screen.query_one(Facts).text)
        await it.pilot.press("w")
        await it.until(lambda: MANY[4] in screen.query_one(Facts).text)
        await move_to(it, screen, STARTER)


async def test_a_download_does_not_write_over_them() -> None:
    shelf = FakeShelf(complaints=MANY)
    shelf.moving = {QWEN.key: getting(1_300_000_000)}
    async with chat(shelf=shelf, size=(80, 24)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("w")
        shelf.moving = {QWEN.key: getting(1_900_000_000)}
        screen.look_again()
        await it.settle()
        assert MANY[0] in screen.query_one(Facts).text


async def test_few_words_are_said_as_they_are() -> None:
    words = ("Ollama: half:1b is not here in full.", "models.toml: entry 2 is left out.")
    async with chat(shelf=FakeShelf(complaints=words), size=(80, 24)) as it:
        await opened(it)
        await it.sees(*words)


async def test_one_note_that_is_long() -> None:
    async with chat(shelf=FakeShelf(complaints=(" ".join(MANY),)), size=(80, 24)) as it:
        await opened(it)
        await it.sees("Not everything is listed: w says what is left out and why (1 note).")


async def test_without_any_the_key_does_nothing() -> None:
    async with chat(shelf=FakeShelf(), size=(80, 24)) as it:
        screen = await opened(it)
        await move_to(it, screen, QWEN)
        await it.pilot.press("w")
        await it.settle()
        assert f"All about {QWEN.title}." in screen.query_one(Facts).text
