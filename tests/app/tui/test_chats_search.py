"""Searching on the Chats screen, and opening what was found there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.widgets.chat_list import ChatList
from app.tui.widgets.chat_preview import ChatPreview
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.search_box import SearchBox
from tests.app.tui.chats_screen import left, move_to, notice, opened, titles
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, reads, says
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.stored_chats import VOLGA, fill, say

pytestmark = pytest.mark.usefixtures("thursday")


class TestSearch:
    async def test_results_come_while_typing(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("slash", *"volga")
            await it.sees("1 chat of 9", "The longest river in Europe is the Volga")
            assert "Packing" not in it.shown
            await it.pilot.press(*"zz")
            await it.sees("Nobody said volgazz in any chat. esc shows all chats again.")
            await it.pilot.press("backspace", "backspace")
            await it.sees("1 chat of 9")
            await it.until(lambda: VOLGA[:40] in screen.query_one(ChatPreview).text)
            await it.pilot.press("escape")
            await it.sees("9 chats", "Packing list")
            assert it.app.screen is screen

    async def test_enter_opens_what_was_found_even_when_it_comes_fast(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            await opened(it)
            await it.pilot.press("slash", *"shlex", "enter")
            await left(it)
            await it.sees("Split a shell command in Python", "There the rules differ.")

    async def test_a_letter_that_is_no_command_begins_a_search(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("天")
            await it.sees("1 chat of 9", "東京の天気はどうですか")
            assert screen.query_one(SearchBox).has_focus
            await it.pilot.press("escape", "v")
            await it.pilot.press(*"alda")
            await it.sees("1 chat of 9", "Valdai")

    async def test_letters_in_the_search_are_no_commands(self, store: ChatStore) -> None:
        before = titles(store)
        async with chat(store=store) as it:
            await opened(it)
            await it.pilot.press("slash", *"nrpue", "delete", "slash", "r")
            await it.sees("Nobody said nrpue/r in any chat.")
        assert titles(store) == before

    async def test_the_list_of_results_can_be_walked(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("slash", *"the ")
            await it.until(lambda: screen.query_one(ChatList).count > 1 and "of 9" in it.lines[0])
            await it.pilot.press("down", "down", "p")
            pinned = screen.chat
            assert pinned is not None
            await it.until(lambda: screen.chat is not None and screen.chat.pinned)
            assert screen.chat is not None
            assert screen.chat.id == pinned.id
            assert "of 9" in it.lines[0], "the search stays"
            await it.pilot.press("escape")
            await it.sees("9 chats")
            await it.pilot.press("escape")
            await left(it)

    async def test_the_index_is_made_behind_the_screen(self, tmp_path: Path) -> None:
        store = open_chats(tmp_path / "chats.sqlite", print)
        fill(store)
        async with chat(store=store) as it:
            await opened(it)
            waiting = "SELECT count(*) FROM unindexed"
            await it.until(lambda: store._keeper.read(lambda db: db.execute(waiting).fetchone()) == (0,), "the index")
            await it.pilot.press("slash", *"caspian")
            await it.sees("1 chat of 9")
        store.close()

    async def test_a_paste_is_searched_for(self, store: ChatStore) -> None:
        from textual import events

        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            screen.query_one(ChatList).post_message(events.Paste("Caspian\nSea"))
            await it.sees("1 chat of 9")


class TestOpening:
    async def test_the_branch_that_was_found_is_shown(self) -> None:
        store = memory_store()
        number = say(store, "question", "the first answer", ago=timedelta(days=1))
        question, first = store.path(number)
        again = store.start_answer(number, parent=question.id)
        store.finish_answer(again.id, ends("another answer"))
        say(store, "something else", "so it is")
        async with chat(store=store, size=(120, 40)) as it:
            for words, shown in (("another", "another answer"), ("first", "the first answer")):
                await opened(it)
                await it.pilot.press("slash", *words, "enter")
                await left(it)
                await it.sees("question", shown)
        assert [m.id for m in store.path(number)] == [question.id, first.id]

    async def test_another_chat_and_back_again(self, store: ChatStore) -> None:
        client = FakeClient([answer("On Windows, quotes differ.")])
        async with chat(client, store=store, size=(120, 40)) as it:
            it.composer.text = "typed before"
            screen = await opened(it)
            await move_to(it, screen, "A toast")
            await it.pilot.press("enter")
            await left(it)
            await it.sees("To Ada, who counts.", "A toast for Ada's birthday")
            assert it.composer.text == ""
            await it.ask("more")
            assert client.asked[0].messages[0].content == "A toast for Ada's birthday, two sentences"
            screen = await opened(it)
            await move_to(it, screen, "Rivers")
            await it.pilot.press("enter")
            await left(it)
            await it.sees(VOLGA[:40])
            assert it.stored[-1] == ("assistant", "complete", VOLGA)
            assert it.composer.text == "typed before"

    async def test_the_open_one_and_esc_change_nothing(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            for key in ("enter", "escape", "ctrl+o"):
                await opened(it)
                await it.pilot.press(key)
                await left(it)
                assert it.screen.chat.title == "Rivers of Europe"
                assert it.composer.has_focus

    async def test_a_new_one(self, store: ChatStore) -> None:
        async with chat(store=store) as it:
            await opened(it)
            await it.pilot.press("n")
            await left(it)
            await it.sees("fast answers from a model on your own machine")
            await it.ask("hello")
        assert titles(store)[1] == "hello"

    async def test_not_while_an_answer_is_written(self, store: ChatStore) -> None:
        client = FakeClient([[reads(1, 1), *says("So far"), Wait("end"), ends("So far so good")]])
        words = "An answer is being written here; stop it (esc in the chat) or wait for its end first."
        async with chat(client, store=store, size=(120, 40)) as it:
            await it.send("go on")
            await it.sees("So far")
            screen = await opened(it)
            assert screen.chat is not None
            await it.pilot.press("delete")
            assert notice(screen) == words
            for key in ("enter", "n"):
                screen.query_one(NoticeLine).clear()
                await move_to(it, screen, "A toast")
                await it.pilot.press(key)
                assert notice(screen) == words
            client.go("end")
            await it.until(lambda: it.idle)
            await it.pilot.press("enter")
            await left(it)
            await it.sees("To Ada, who counts.")
        assert [m.content for m in store.path(store.conversations()[1].id)][-1] == "So far so good"

    async def test_a_chat_that_went_away_meanwhile(self, tmp_path: Path) -> None:
        file = tmp_path / "chats.sqlite"
        ours, theirs = open_chats(file, print), open_chats(file, print)
        ids = fill(ours)
        async with chat(store=ours, size=(120, 40)) as it:
            screen = await opened(it)
            await move_to(it, screen, "A toast")
            theirs.delete(ids[6])
            await it.pilot.press("enter")
            await left(it)
            await it.sees("This chat is not in the store any more.", VOLGA[:40])
        ours.close()
        theirs.close()

    async def test_a_long_chat_opens_at_its_end(self) -> None:
        store = memory_store()
        say(store, *(f"turn {n}" for n in range(1000)), ago=timedelta(days=1))
        say(store, "short", "chat")
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await move_to(it, screen, "turn 0")
            await it.pilot.press("enter")
            await left(it)
            await it.sees("turn 999")
            assert len(it.answers) == 10


class TestTwoInstances:
    async def test_what_is_open_elsewhere_is_marked_opened_on_wish_and_not_deleted(self, tmp_path: Path) -> None:
        file = tmp_path / "chats.sqlite"
        ours, theirs = open_chats(file, print), open_chats(file, print)
        ids = fill(ours)
        theirs.mark_open(ids[6])
        async with chat(store=ours, size=(120, 40)) as it:
            screen = await opened(it)
            await it.sees("open elsewhere")
            await move_to(it, screen, "A toast")
            await it.pilot.press("delete")
            await it.sees(
                "A toast for Ada's birthday, two sentences is open in another Slipstream, which would bring it back. "
                "Close it there first."
            )
            assert "A toast for Ada's birthday, two sentences" in titles(ours)
            await it.pilot.press("enter")
            await left(it)
            await it.sees(
                "To Ada, who counts.",
                "This chat is open in another Slipstream, too: what is said there shows here with your next message.",
            )
        ours.close()
        theirs.close()
