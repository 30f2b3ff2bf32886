"""ctrl+o: every chat by date, found by what was said, opened, named, pinned, deleted, brought back, exported."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.screens.chats import ChatsScreen
from app.tui.widgets.chat_preview import ChatPreview
from tests.app.tui.chats_screen import left, move_to, opened
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.stored_chats import say

pytestmark = pytest.mark.usefixtures("thursday")


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
