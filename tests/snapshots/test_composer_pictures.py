"""Pictures of the composer: its lists of completions, and attached files. Look at the report of a failing run before
taking new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from tests.app.tui.fake_client import LOAD, FakeClient, answer
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat

Look = Callable[[Chat], Awaitable[None]]
NOTES = "Bread, butter, and the ferry at nine.\n" * 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("notes.txt", "README.md", "src/notes_row.py", "src/deep/field-notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(NOTES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def picture(snap_compare: Any, theme: str, size: tuple[int, int]) -> Callable[[Look], bool]:
    def take(look: Look) -> bool:
        client = FakeClient([answer("It leaves at nine.")] * 2)
        app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=theme, library=FakeShelf)

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def test_commands(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat) -> None:
        await it.ask("When does the ferry leave?")
        await it.pilot.press("/", "down", "down", "down")
        await it.sees("start an empty chat")

    assert picture(look)


def test_arguments(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat) -> None:
        await it.send("/temp 0.3")
        await it.send("/seed 7")
        await it.pilot.press(*"/spec ", "down", "down")
        await it.sees("no draft model chosen")

    assert picture(look)


def test_files(picture: Callable[[Look], bool], folder: Path) -> None:
    async def look(it: Chat) -> None:
        await it.pilot.press(*"Compare @README.md with @notes")
        await it.sees("field-notes.md", "+ README.md")

    assert picture(look)


def test_attached_sent_and_changed(picture: Callable[[Look], bool], folder: Path) -> None:
    async def look(it: Chat) -> None:
        await it.ask("When does the ferry leave, by @notes.txt and @README.md ?")
        (folder / "notes.txt").write_text("Bread only.\n")
        await it.screen.show_chat()
        await it.sees("notes.txt, changed since")
        await it.pilot.press(*"And by @src/notes_row.py ", "ctrl+j", *"in one word?")
        await it.sees("+ src/notes_row.py")

    assert picture(look)


def test_refused_command(picture: Callable[[Look], bool]) -> None:
    async def look(it: Chat) -> None:
        await it.send("/sped off")
        await it.sees("did you mean /spec?")

    assert picture(look)
