"""Leaving while the disk takes nothing: a copy elsewhere, or a question; and saving as soon as there is room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui import rescue, saving_again
from app.tui.screens.losing import LosingScreen
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.harness import Chat, chat


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A file where the folder of the chats should be."""
    file = tmp_path / "file"
    file.write_text("no folder")
    return file


def opened(nowhere: Path) -> ChatStore:
    return open_chats(nowhere / "chats.sqlite", lambda notice: None)


def only(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setattr(rescue, "_folders", lambda store: folders)


@asynccontextmanager
async def unsaved(store: ChatStore) -> AsyncIterator[Chat]:
    async with chat(FakeClient([answer("Hello.")]), store=store) as it:
        await it.ask("hi")
        yield it


async def test_it_leaves_where_a_copy_can_be_written(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, nowhere / "exports", tmp_path / "elsewhere")
    store = opened(nowhere)
    async with unsaved(store) as it:
        await it.pilot.press("ctrl+q")
        await it.until(lambda: it.app._exit)
    assert not list((tmp_path / "elsewhere").iterdir()), "what was tried is gone; the last word is written at the end"
    store.close()
    told = rescue.last_words(store, "")
    files = [tmp_path / "elsewhere" / "hi.md", tmp_path / "elsewhere" / "hi.json"]
    assert told.startswith('Not saved: 2 messages of the chat "hi". ')
    assert told.endswith(f" A copy of the whole chat is in {files[0]} and {files[1]}.")
    assert "Hello." in files[0].read_text()
    assert '"content": "Hello."' in files[1].read_text()


@pytest.mark.parametrize("leaving", ["ctrl+q", "/quit"])
async def test_one_key_loses_nothing(nowhere: Path, monkeypatch: pytest.MonkeyPatch, leaving: str) -> None:
    only(monkeypatch, nowhere / "exports")
    store = opened(nowhere)
    async with unsaved(store) as it:
        if leaving == "/quit":
            await it.send("/quit")
        else:
            await it.pilot.press("ctrl+q")
        await it.sees(
            'Not saved: 2 messages of the chat "hi".',
            "No copy could be written anywhere else either.",
            "Leave, and lose it?",
            "try again save it now, and leave when it is saved: you have made room",
            "stay the chat goes on; its text can be copied from here",
            "leave all the same what is not saved is gone",
        )
        await it.pilot.press("ctrl+q", "escape")
        await it.until(lambda: it.app.screen is it.screen)
        assert not it.app._exit
        await it.pilot.press("ctrl+q")
        await it.until(lambda: isinstance(it.app.screen, LosingScreen))
        await it.pilot.press("down", "enter")
        await it.until(lambda: it.app.screen is it.screen)
        assert not it.app._exit, "stay"
        await it.pilot.press("ctrl+q")
        await it.until(lambda: isinstance(it.app.screen, LosingScreen))
        await it.pilot.press("down", "down", "enter")
        await it.until(lambda: it.app._exit)
    store.close()
    told = rescue.last_words(store, "")
    assert told.endswith(rescue.NO_COPY)


async def test_the_question_and_its_keys_fit_into_a_dozen_lines(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, nowhere / "exports")
    async with unsaved(opened(nowhere)) as it:
        await it.pilot.resize_terminal(48, 12)
        await it.pilot.press("ctrl+q")
        await it.sees("Not saved: 2 messages", "Leave, and lose it?", "try again", "stay", "leave all the same")
        await it.until(lambda: "enter choose" in it.footer)


async def test_trying_again_leaves_when_there_is_room(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, nowhere / "exports")
    store = opened(nowhere)
    async with unsaved(store) as it:
        await it.pilot.press("ctrl+q")
        await it.until(lambda: isinstance(it.app.screen, LosingScreen))
        conversation, first = it.screen.chat.conversation.id, it.app.screen
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is not first and isinstance(it.app.screen, LosingScreen), "asked again")
        nowhere.unlink()
        await it.pilot.press("enter")
        await it.until(lambda: it.app._exit)
    store.close()
    assert store.lost() is None
    assert [message.content for message in opened(nowhere).path(conversation)] == ["hi", "Hello."]


async def test_a_disk_that_does_not_answer_asks(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(store: ChatStore, system: str) -> str | None:
        raise TimeoutError

    monkeypatch.setattr(rescue, "why_stay", never)
    async with unsaved(opened(nowhere)) as it:
        await it.pilot.press("ctrl+q")
        await it.sees("Not saved: something that was said, and the disk does not answer.", "Leave, and lose it?")


async def test_it_is_saved_as_soon_as_there_is_room(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving_again, "SECONDS", 0.2)
    async with unsaved(opened(nowhere)) as it:
        assert "not saved" in it.lines[0]
        nowhere.unlink()
        await it.until(lambda: "not saved" not in it.lines[0], "saved without a further message")
        assert [message.content for message in opened(nowhere).path(it.screen.chat.conversation.id)] == ["hi", "Hello."]


def test_copies_in_the_folder_for_temporary_files_say_so(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(nowhere / "home"))
    monkeypatch.setattr(rescue.tempfile, "gettempdir", lambda: str(tmp_path))
    store = opened(nowhere)
    for number in range(3):
        store.append_user(store.create_conversation().id, f"question {number}", parent=None)
    store.close()
    told = rescue.last_words(store, "")
    assert told.endswith(
        f"{tmp_path / 'question-1.json'} and 2 more files there. "
        "That is the folder for temporary files, so move them soon."
    )
    assert (tmp_path / "question-2.json").stat().st_mode & 0o077 == 0


def test_half_of_the_copies_is_none(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, tmp_path / "elsewhere")
    store = opened(nowhere)
    for number in range(2):
        store.append_user(store.create_conversation().id, f"question {number}", parent=None)
    export, written = rescue.export, []

    def fails_at_last(*what: object) -> Path:
        if len(written) == 3:
            raise rescue.ExportError("full")
        written.append(export(*what))  # type: ignore[arg-type]
        return written[-1]

    monkeypatch.setattr(rescue, "export", fails_at_last)
    told = rescue.why_stay(store, "")
    assert told is not None
    assert told.startswith("Not saved: 2 messages in 2 chats.")
    assert told.endswith(rescue.NO_COPY)
    assert not list((tmp_path / "elsewhere").iterdir())
