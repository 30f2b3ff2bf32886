"""`/export` in the chat on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.export_file import ExportError
from app.tui import commands
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.harness import chat, replies


class TestExport:
    async def test_the_chat_on_screen_becomes_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        async with chat(FakeClient([answer("Ships at night.")])) as it:
            await it.ask("What does it see?")
            for typed, suffix in (("/export", ".md"), ("/export json", ".json"), ("/export all", ".json")):
                before = set(tmp_path.iterdir())
                it.composer.text = ""
                await it.send(typed)
                await it.until(lambda before=before: len(set(tmp_path.iterdir())) > len(before))  # type: ignore[misc]
                (made,) = set(tmp_path.iterdir()) - before
                assert made.suffix == suffix
                await it.until(lambda made=made: "Ships at night." in made.read_text())  # type: ignore[misc]
                await it.sees("Exported to")

    async def test_a_form_that_there_is_not_and_an_empty_chat(self) -> None:
        async with chat(FakeClient([answer("ok")])) as it:
            assert "export" not in {command.name for command in commands.offered(it.screen)}
            await replies(it, "/export json", "Nothing has been said in this chat yet.")
            it.composer.text = ""
            await it.ask("hi")
            await it.send("/export pdf")
            await it.sees("/export takes md, json or all, not pdf.")

    async def test_a_folder_that_takes_nothing_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(folders: object, name: str, text: str) -> Path:
            raise ExportError("Neither folder can be written to; nothing was exported.")

        monkeypatch.setattr("app.chats.export_file.write_new", refuse)
        async with chat(FakeClient([answer("ok")])) as it:
            await it.ask("hi")
            await it.send("/export")
            await it.sees("Neither folder can be written to; nothing was exported.")
            assert it.composer.text == "/export"
