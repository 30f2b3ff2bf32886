"""A message that was searched for: the chat opens where it is, also in the middle of a thousand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.chats.store import ChatStore
from app.tui.found import FOUND
from app.tui.screens.chats import ChatsScreen
from app.tui.widgets.more_rows import Later
from app.tui.widgets.transcript import PAGE
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.stored_chats import say

MANY = 1000

pytestmark = pytest.mark.usefixtures("thursday")


@pytest.fixture
def _lasting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.found.MARK_SECONDS", 3600.0)


def long_chat(needle: int) -> ChatStore:
    """A chat of a thousand turns, of which one says ``needle``, and a newer one that is open at the start."""
    store = memory_store()
    turns = [f"turn {number}" + " with the needle" * (number == needle) for number in range(MANY)]
    say(store, *turns, ago=timedelta(days=1))
    say(store, "something else", "so it is")
    return store


async def find(it: Chat, words: str = "needle") -> None:
    await it.pilot.press("ctrl+o")
    await it.until(lambda: isinstance(it.app.screen, ChatsScreen), "the screen")
    await it.pilot.press("slash", *words, "enter")
    await it.until(lambda: it.app.screen is it.screen, "the chat")


def texts(it: Chat) -> list[str]:
    """The turns that are mounted."""
    return [view.turn.text.removesuffix(" with the needle") for view in it.transcript.views]


def marked(it: Chat) -> list[str]:
    return [view.turn.text for view in it.transcript.views if view.has_class(FOUND)]


@pytest.mark.usefixtures("_lasting")
@pytest.mark.parametrize("needle", [0, 3, 500, 501, 981, 985])
async def test_the_chat_opens_where_it_was_found(needle: int) -> None:
    async with chat(store=long_chat(needle)) as it:
        await find(it)
        await it.sees(f"turn {needle} with the needle")
        await it.until(lambda: marked(it) == [f"turn {needle} with the needle"])
        assert not it.transcript.following
        assert len(it.transcript.views) <= 2 * PAGE, "only what is near is mounted"
        assert any("the needle" in row for row in it.lines[:6]), "at the top of the view"


@pytest.mark.usefixtures("_lasting")
async def test_what_was_found_at_the_end_is_followed() -> None:
    async with chat(store=long_chat(MANY - 1)) as it:
        await find(it)
        await it.until(lambda: marked(it) == [f"turn {MANY - 1} with the needle"])
        await it.until(lambda: it.transcript.following)


async def test_the_mark_goes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.found.MARK_SECONDS", 0.01)
    async with chat(store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        await it.until(lambda: not marked(it))


async def test_a_chat_that_was_found_by_its_title_opens_at_its_end() -> None:
    store = long_chat(500)
    number = say(store, "question", "answer", ago=timedelta(days=2))
    store.rename(number, "thimble")
    async with chat(store=store) as it:
        await find(it, "thimble")
        await it.sees("question", "answer")
        assert it.transcript.following
        assert not marked(it)


async def test_the_end_is_one_key_away() -> None:
    async with chat(store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        assert it.transcript.query_one(Later).display
        await it.pilot.press("ctrl+end")
        await it.sees(f"turn {MANY - 1}")
        await it.until(lambda: it.transcript.following)
        assert texts(it) == [f"turn {number}" for number in range(MANY - PAGE, MANY)]
        assert not it.transcript.query_one(Later).display


async def test_going_down_mounts_what_comes_later() -> None:
    async with chat(store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        for _ in range(4):
            await it.pilot.press("pagedown")
            await it.settle()
        first, last = int(texts(it)[0].split()[1]), int(texts(it)[-1].split()[1])
        assert last > 510, "a page at least was added"
        assert texts(it) == [f"turn {number}" for number in range(first, last + 1)], "none is missing, none twice"
        assert not it.transcript.following


async def test_selecting_goes_on_below_what_is_mounted() -> None:
    async with chat(store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        last = it.transcript.views[-1]
        it.screen.select(last)
        await it.pilot.press("down")
        await it.until(lambda: it.screen.selected is not None and it.screen.selected is not last)
        assert it.screen.selected is not None
        assert it.screen.selected.turn.text == f"turn {int(last.turn.text.split()[1]) + 1}"


async def test_what_is_done_to_the_last_answer_is_not_done_to_another_one() -> None:
    async with chat(store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        await it.screen.do("again")
        await it.sees("The last answer is not on screen: ctrl+end goes there, alt+↑ selects a turn here.")
        assert it.client.asked == []


async def test_what_is_said_from_there_comes_at_the_end() -> None:
    async with chat(FakeClient([answer("Here I am.")]), store=long_chat(500)) as it:
        await find(it)
        await it.sees("turn 500 with the needle")
        await it.ask("and now?")
        await it.sees("and now?", "Here I am.")
        assert it.transcript.following
        assert texts(it) == [*(f"turn {number}" for number in range(MANY - PAGE, MANY)), "and now?", "Here I am."]
        assert not it.transcript.has_later


async def test_another_answer_to_what_was_found_stands_where_it_was() -> None:
    async with chat(FakeClient([answer("Otherwise.")]), store=long_chat(501)) as it:
        await find(it)
        await it.sees("turn 501 with the needle")
        it.screen.select(next(view for view in it.transcript.views if "needle" in view.turn.text))
        await it.pilot.press("r")
        await it.until(lambda: len(it.client.asked) == 1 and it.idle)
        await it.sees("turn 500", "Otherwise.", "‹ 2/2 ›")
        assert texts(it)[-2:] == ["turn 500", "Otherwise."]
        await it.pilot.press("alt+up", "left")
        await it.sees("turn 501 with the needle", "‹ 1/2 ›")
        await it.until(lambda: texts(it)[-1] == f"turn {500 + PAGE}", "a page of that branch")
        assert it.transcript.query_one(Later).display
        await it.pilot.press("escape", "ctrl+end")
        await it.until(lambda: texts(it)[-1] == f"turn {MANY - 1}", "its end")
