"""ctrl+o: every chat by date, found by what was said, opened, named, pinned, deleted, brought back, exported."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.screens.chat import ChatScreen
from app.tui.screens.chats import ChatsScreen
from app.tui.widgets.chat_list import ChatList
from app.tui.widgets.chat_preview import ChatPreview
from app.tui.widgets.name_box import NameBox
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.search_box import SearchBox
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, reads, says
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.stored_chats import CHATS, NOW, VOLGA, fill, say


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.dates.now", lambda: NOW)


@pytest.fixture
def store() -> ChatStore:
    store = memory_store()
    fill(store)
    return store


async def opened(it: Chat) -> ChatsScreen:
    """The Chats screen, with its list."""
    await it.pilot.press("ctrl+o")
    await it.until(lambda: isinstance(it.app.screen, ChatsScreen), "the screen")
    screen = it.app.screen
    assert isinstance(screen, ChatsScreen)
    await it.until(lambda: "chat" in it.lines[0].removeprefix(" chats"), "the list")
    return screen


async def move_to(it: Chat, screen: ChatsScreen, title: str) -> None:
    await it.pilot.press("home")
    for _ in range(30):
        if screen.chat is not None and screen.chat.title.startswith(title):
            return
        await it.pilot.press("down")
    raise AssertionError(f"no chat {title}")


def notice(screen: ChatsScreen) -> str:
    return screen.query_one(NoticeLine).text


def titles(store: ChatStore) -> list[str]:
    return [chat.title for chat in store.conversations()]


async def left(it: Chat) -> None:
    await it.until(lambda: isinstance(it.app.screen, ChatScreen), "the chat")


class TestList:
    async def test_by_date_with_pinned_ones_first(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.sees(
                "Pinned", "Today", "Yesterday", "This week", "November 2026", "September 2026", "October 2025"
            )
            rows = [line.split("│")[0].rstrip() for line in it.lines]
            order = [
                "Pinned", "Compare B-trees", "Today", "Rivers of Europe", "Why is the sky", "Yesterday", "A toast",
                "This week", "Split a shell", "Explain specul", "November 2026", "Names for a cat", "September 2026",
                "東京の天気", "October 2025", "Packing list",
            ]  # fmt: skip
            at = [next(n for n, row in enumerate(rows) if row[2:].strip().startswith(words)) for words in order]
            assert at == sorted(at)
            assert "9 chats" in it.lines[0]
            row = next(row for row in rows if "Rivers of Europe" in row)
            assert row.startswith(" ● Rivers of Europe")
            assert row.endswith("open      14:57")
            assert screen.chat is not None
            assert screen.chat.title == "Rivers of Europe", "the one that is open is highlighted"
            assert next(row for row in rows if "Split a shell" in row).endswith("Tue")
            assert next(row for row in rows if "Names for" in row).endswith("10 Nov")
            assert next(row for row in rows if "Packing" in row).endswith("22 Oct")

    async def test_the_highlighted_chat_is_shown_beside_the_list(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await move_to(it, screen, "Split a shell")
            await it.until(lambda: "There the rules differ." in screen.query_one(ChatPreview).text, "the preview")
            await it.sees("4 messages · begun 24 Nov 2026", "And on Windows?", "SmolLM2-135M")
        async with chat(store=store, size=(80, 24)) as it:
            screen = await opened(it)
            assert not screen.query_one(ChatPreview).display

    async def test_an_empty_store_says_what_to_do(self) -> None:
        async with chat(size=(80, 24)) as it:
            await opened(it)
            await it.sees(
                "No chat is kept yet. What is said in a chat is kept by itself, and found here: esc goes back"
            )
            assert "rename" not in it.footer
            await it.pilot.press("enter", "r", "delete", "e", "p", "down", "pagedown", "end")
            await it.pilot.press("escape")
            await left(it)

    async def test_two_thousand_chats_are_all_there_and_few_are_drawn(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = open_chats(tmp_path / "chats.sqlite", print)
        say(store, "the first of all")
        store._keeper.read(
            lambda db: db.executescript(
                """
                BEGIN;
                CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 1999)
                    SELECT i FROM n;
                INSERT INTO conversations (id, title, created, updated) SELECT i, 'old chat ' || i, i, i * 86400 FROM n;
                INSERT INTO messages (id, conversation, role, content, state, created)
                    SELECT i, i, 'user', 'words', 'complete', i FROM n;
                UPDATE conversations SET leaf = id WHERE id <= 1999;
                COMMIT;
                """
            )
        )
        drawn: list[str] = []
        from app.tui.widgets import chat_list

        line = chat_list.title_line

        def counted(row, *more, **named):  # type: ignore[no-untyped-def]
            drawn.append(row.chat.title)
            return line(row, *more, **named)

        monkeypatch.setattr(chat_list, "title_line", counted)
        async with chat(store=store, size=(80, 24)) as it:
            await it.pilot.press("ctrl+o")
            await it.sees("2,000 chats")
            assert len(set(drawn)) < 60
            await it.pilot.press("end")
            await it.sees("old chat 1 ")
            await it.pilot.press("pageup", "pageup", "home")
            await it.sees("the first of all")
            assert len(set(drawn)) < 200
        store.close()

    async def test_moving(self, store: ChatStore) -> None:
        async with chat(store=store, size=(80, 14)) as it:
            screen = await opened(it)
            await it.pilot.press("home", "up")
            assert screen.chat is not None
            assert screen.chat.title.startswith("Compare")
            await it.sees("Pinned")
            await it.pilot.press("pagedown")
            assert not screen.chat.title.startswith("Compare")
            await it.pilot.press("end", "down")
            assert screen.chat.title.startswith("Packing")
            await it.sees("October 2025", "Packing list for Norway")
            await it.pilot.press("pageup", "pageup", "pageup", "pageup")
            assert screen.chat.title.startswith("Compare")

    async def test_a_click_chooses_and_a_second_one_opens(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            row = next(number for number, line in enumerate(it.lines) if "A toast for Ada" in line)
            await it.pilot.click(offset=(10, row))
            await it.until(lambda: screen.chat is not None and screen.chat.title.startswith("A toast"))
            assert it.app.screen is screen
            await it.pilot.click(offset=(10, row))
            await left(it)
            await it.sees("To Ada, who counts.")

    async def test_hostile_titles_and_texts_are_inert(self) -> None:
        store = memory_store()
        number = say(store, "harmless", "an \x1b]52;c;eA==\x07answer\u202e with [bold]words[/]")
        store.rename(number, "evil\x1b[2J\x9b\u202e[red]title")
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.until(lambda: "answer" in screen.query_one(ChatPreview).text)
            await it.sees("evil␛[2J��[red]title", "[bold]words[/]")
            await it.pilot.press("slash", *"words")
            await it.sees("an ␛]52;c;eA==␇answer� with [bold]words[/]")
            await it.pilot.press("escape", "r")
            assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(it.shown)

    async def test_the_palette_leads_there(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            assert "ctrl+o chats" in it.footer
            await it.pilot.press("ctrl+p", *"chats")
            await it.sees("ctrl+o: open another chat")
            await it.pilot.press("enter")
            await it.until(lambda: isinstance(it.app.screen, ChatsScreen))


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


class TestNaming:
    async def test_in_the_row(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            before = it.lines
            await it.pilot.press("r")
            box = screen.query_one(NameBox)
            assert box.has_focus
            row = next(number for number, line in enumerate(before) if "● Rivers of Europe" in line)
            assert box.region.y == row
            assert "enter rename" in it.footer
            await it.pilot.press(*"Geography", "enter")
            await it.sees("● Geography")
            assert screen.query_one(ChatList).has_focus
            await it.pilot.press("escape")
            await left(it)
            assert "Geography" in it.lines[0]
        assert "Geography" in titles(store)

    async def test_esc_an_empty_name_and_a_click_leave_it(self, store: ChatStore) -> None:
        before = titles(store)
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("r", "x", "escape")
            await it.pilot.press("r", "backspace", "enter")
            await it.pilot.press("r", "x")
            await it.pilot.click(offset=(10, 36))
            await it.until(lambda: not screen.query_one(NameBox).display)
            await it.pilot.press("r", "enter")
        assert titles(store) == before

    async def test_a_paste_is_one_clean_line(self, store: ChatStore) -> None:
        from textual import events

        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("r")
            screen.query_one(NameBox).post_message(events.Paste("two\nlines\x1b[2J"))
            await it.pilot.press("enter")
            await it.sees("● two lines␛[2J")


class TestPinning:
    async def test_and_back(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            assert "p pin " in it.footer
            await it.pilot.press("p")
            await it.until(lambda: "p unpin" in it.footer)
            assert screen.chat is not None
            assert screen.chat.title == "Rivers of Europe", "the highlight goes along"
            assert titles(store)[:2] == ["Rivers of Europe", "Compare B-trees and LSM trees for a chat store"]
            await it.pilot.press("p")
            await it.until(lambda: "p pin " in it.footer)


class TestDeleting:
    async def test_at_once_and_undone(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            assert "undo" not in it.footer
            await move_to(it, screen, "A toast")
            await it.pilot.press("delete")
            await it.sees(
                "8 chats",
                "Deleted A toast for Ada's birthday, two sentences. u brings it back; in 30 days it is gone for good.",
            )
            assert screen.chat is not None
            assert screen.chat.title.startswith("Split a shell"), "the next one"
            assert "u undo" in it.footer
            await it.pilot.press("u")
            await it.sees("9 chats", "A toast for Ada's birthday, two sentences is back, as it was.")
            assert screen.chat is not None
            assert screen.chat.title.startswith("A toast")
            assert "undo" not in it.footer

    async def test_later_and_after_a_restart_as_well(self, tmp_path: Path) -> None:
        store = open_chats(tmp_path / "chats.sqlite", print)
        fill(store)
        for chat_ in store.conversations():
            store.delete(chat_.id)
        store.close()
        store = open_chats(tmp_path / "chats.sqlite", print)
        async with chat(store=store, size=(120, 40)) as it:
            await opened(it)
            await it.sees("There is no chat any more. u brings the last deleted one back, n", "begins a new one.")
            for number in range(1, len(CHATS) + 1):
                await it.pilot.press("u")
                await it.sees(f"{number} chat{'s' * (number > 1)} ")
        assert len(titles(store)) == len(CHATS)
        store.close()

    async def test_the_chat_behind(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            await opened(it)
            await it.pilot.press("delete")
            await it.sees("8 chats")
            await it.pilot.press("escape")
            await left(it)
            await it.sees(
                "The chat that was open is deleted, this is a new one. ctrl+o and then u brings it back.",
                "fast answers from a model on your own machine",
            )
            await opened(it)
            await it.pilot.press("u")
            await it.sees("9 chats")
            await it.pilot.press("enter")
            await left(it)
            await it.sees(VOLGA[:40])

    async def test_the_chat_behind_brought_back_before_leaving(self, store: ChatStore) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            await opened(it)
            await it.pilot.press("delete")
            await it.sees("8 chats")
            await it.pilot.press("u")
            await it.sees("9 chats")
            await it.pilot.press("escape")
            await left(it)
            assert it.screen.chat.title == "Rivers of Europe"

    async def test_what_cannot_be_saved_is_said(self, tmp_path: Path) -> None:
        from tests.unit.chats.test_unsaved import limit_pages

        store = open_chats(tmp_path / "chats.sqlite", print)
        fill(store)
        limit_pages(store, None)
        async with chat(store=store, size=(120, 40)) as it:
            number = it.screen.chat.conversation.id
            parent = store.path(number)[-1].id
            store.append_user(number, "x" * 50_000, parent=parent)
            assert store.trouble is not None
            screen = await opened(it)
            await it.sees("not saved: the disk of")
            await move_to(it, screen, "A toast")
            await it.pilot.press("delete")
            await it.sees("Deleted A toast", "not saved: the disk of")
        store.close()


class TestExport:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    async def test_markdown_and_json(self, store: ChatStore, tmp_path: Path) -> None:
        async with chat(store=store, size=(120, 40), system="Be brief.") as it:
            await opened(it)
            await it.pilot.press("e")
            await it.sees("export Rivers of Europe", "Markdown", "JSON, all branches")
            await it.pilot.press("enter")
            await it.sees(f"Exported to {tmp_path / 'Rivers-of-Europe.md'}")
            text = (tmp_path / "Rivers-of-Europe.md").read_text()
            assert text.startswith("# Rivers of Europe\n")
            assert "## system\n\nBe brief." in text
            assert "## SmolLM2-135M · " in text
            assert "accepted 64 % (18/28)" in text
            await it.pilot.press("e", "enter")
            await it.sees("Rivers-of-Europe-2.md")
            await it.pilot.press("e", "down", "down", "enter")
            await it.sees("Rivers-of-Europe.json")
            content = json.loads((tmp_path / "Rivers-of-Europe.json").read_text())
            assert [message["role"] for message in content["messages"]] == ["user", "assistant"] * 2
            assert content["messages"][3]["figures"]["receipt"]["seed"] == 7

    async def test_esc_exports_nothing(self, store: ChatStore, tmp_path: Path) -> None:
        async with chat(store=store, size=(120, 40)) as it:
            screen = await opened(it)
            await it.pilot.press("e")
            await it.sees("export Rivers of Europe")
            await it.pilot.press("escape")
            assert screen.query_one(ChatList).has_focus
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (48, 12)])
async def test_small_terminals(store: ChatStore, size: tuple[int, int]) -> None:
    async with chat(store=store, size=size) as it:
        await opened(it)
        await it.sees("Rivers of Europe", "open")
        await it.pilot.press("slash", *"volga")
        await it.sees("1 chat of 9")
        assert all(len(line.rstrip()) <= size[0] for line in it.lines)


async def test_without_colours_everything_is_still_there(store: ChatStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chat(store=store, size=(80, 24)) as it:
        await opened(it)
        await it.sees("● Rivers of Europe", "open", "Pinned", "Today")
