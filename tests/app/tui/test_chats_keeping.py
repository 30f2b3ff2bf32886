"""What the Chats screen does with chats: names, pins, deletions, exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.widgets.chat_list import ChatList
from app.tui.widgets.name_box import NameBox
from tests.app.tui.chats_screen import left, move_to, opened, titles
from tests.app.tui.harness import chat
from tests.app.tui.stored_chats import CHATS, VOLGA, fill

pytestmark = pytest.mark.usefixtures("thursday")


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

    @pytest.mark.parametrize("width", [48, 60, 80])
    async def test_each_form_is_one_line(self, store: ChatStore, width: int) -> None:
        async with chat(store=store, size=(width, 24)) as it:
            await opened(it)
            await it.pilot.press("e")
            await it.sees("JSON, all branches")
            first = next(number for number, line in enumerate(it.lines) if line.startswith("   Markdown "))
            names = ["Markdown", "JSON", "JSON, all branches"]
            assert [line[3:22].rstrip() for line in it.lines[first : first + 3]] == names
            assert [line[23:].strip().startswith(("to read", "what is shown", "all variants")) for line in
                    it.lines[first : first + 3]] == [True] * 3  # fmt: skip
