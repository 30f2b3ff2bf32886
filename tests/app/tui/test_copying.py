"""Copying an answer or one of its code blocks, and saving it to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.tui import clipboard
from app.tui.clipboard import Tool
from app.tui.widgets.code_label import CodeLabel
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, reads, says
from tests.app.tui.harness import chat

TWO = "First:\n\n```python\nprint('one')\n```\n\n- then\n\n  ```sh\n  echo two\n  ```\n"


async def test_the_original_text_is_copied_and_the_notice_says_where_to() -> None:
    text = "Volga\x1b[31m it is.\r\n\u202eDon"
    async with chat(FakeClient([answer(text)])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "c")
        await it.sees(f"Sent {len(text)} characters to the terminal's clipboard (OSC 52).")
        assert it.app.clipboard == text
        assert it.screen.selected is not None, "stays selected"


async def test_a_tool_of_this_machine_gets_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[tuple[str, str]] = []

    def run(tool: Tool, text: str) -> str:
        got.append((tool.name, text))
        return ""

    monkeypatch.setattr(clipboard, "local_tool", lambda: Tool("wl-copy", ("wl-copy",)))
    monkeypatch.setattr(clipboard, "run_tool", run)
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "c")
        await it.sees("Copied 6 characters: terminal (OSC 52) and wl-copy.")
    assert got == [("wl-copy", "Volga.")]


async def test_ctrl_c_copies_the_selected_turn() -> None:
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "up", "ctrl+c")
        await it.until(lambda: it.app.clipboard == "river?")


@pytest.mark.parametrize(("key", "code", "which"), [("b", "print('one')", "1"), ("2", "echo two", "2")])
async def test_a_code_block_by_its_key(key: str, code: str, which: str) -> None:
    async with chat(FakeClient([answer(TWO)])) as it:
        await it.ask("code")
        await it.sees("python", "sh")
        await it.pilot.press("alt+up", key)
        await it.sees(f"(code block {which} of 2)")
        assert it.app.clipboard == code


async def test_a_code_block_with_the_mouse() -> None:
    async with chat(FakeClient([answer(TWO)])) as it:
        await it.ask("code")
        label = it.screen.query(CodeLabel)[1]
        await it.pilot.click(label, offset=(label.size.width - 1, 0))
        await it.until(lambda: it.app.clipboard == "echo two")
        assert it.screen.selected is None, "the turn was not meant"


async def test_code_is_copied_as_it_was_said() -> None:
    async with chat(FakeClient([answer("```\nsame\n```\n```\na\x1b[31mb\n```\n```\nsame\n```")])) as it:
        await it.ask("code")
        await it.sees("a␛[31mb")
        await it.pilot.press("alt+up", "2")
        await it.until(lambda: it.app.clipboard == "a\x1b[31mb")


async def test_a_running_answer_is_copied_as_far_as_it_has_come() -> None:
    client = FakeClient([[reads(1, 1), *says("Half an ans"), Wait("end"), ends("Half an answer.")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Half an ans")
        await it.pilot.press("alt+up", "c")
        await it.until(lambda: it.app.clipboard == "Half an ans")
        await it.pilot.press("s")
        await it.until(lambda: it.notice == "An answer is being made: esc stops it, then this works.")
        client.go("end")
        await it.until(lambda: it.idle)


async def test_the_language_of_a_block_grows_with_the_stream() -> None:
    client = FakeClient([[reads(1, 1), *says("```py"), Wait("more"), *says("thon\nx = 1\n"), Wait("end")]])
    async with chat(client) as it:
        await it.send("go")
        await it.until(lambda: it.screen.query(CodeLabel))
        client.go("more")
        await it.sees("python", "x = 1")


async def test_an_answer_is_saved_beside_those_before(tmp_path: Path) -> None:
    text = "Volga\x1b it is."
    async with chat(FakeClient([answer(text)]), save_folder=str(tmp_path / "answers")) as it:
        await it.ask("Which river? / really")
        await it.pilot.press("alt+up", "s")
        await it.until(lambda: it.notice.startswith(f"Saved {len(text)} characters: "))
        await it.pilot.press("s")
        await it.until(lambda: len([*(tmp_path / "answers").iterdir()]) == 2)
        files = sorted((tmp_path / "answers").iterdir())
        assert all(file.name.startswith("Which-river-really-20") and file.suffix == ".md" for file in files)
        assert {file.read_text() for file in files} == {text}


async def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("a file where a folder should be")
    async with chat(FakeClient([answer("Volga.")]), save_folder=str(folder)) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "s")
        await it.sees(
            "Not saved:", "cannot be written to", "name one as save_folder in settings.toml; c copies the text."
        )


async def test_the_palette_copies_and_saves_the_last_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with chat(FakeClient([answer("Volga."), answer("Don.")])) as it:
        await it.ask("one")
        await it.ask("two")
        commands: dict[str, Any] = {c.title: c.callback for c in it.app.get_system_commands(it.screen)}
        await commands["Copy answer"]()
        await it.until(lambda: it.app.clipboard == "Don.")
        await commands["Save answer"]()
        await it.until(lambda: [file.read_text() for file in tmp_path.glob("*.md")] == ["Don."])
