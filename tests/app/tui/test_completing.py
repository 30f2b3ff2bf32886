"""The list above the composer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.tui.widgets.completions import Completions
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat, chat


def popup(it: Chat) -> Completions:
    return it.screen.query_one(Completions)


def rows(it: Chat) -> list[str]:
    """What is suggested; empty while there is no list."""
    return [one.shown for one in popup(it).suggestions] if popup(it).display else []


def highlighted(it: Chat) -> str | None:
    at = popup(it).highlighted
    return None if at is None else popup(it).suggestions[at].shown


async def test_a_slash_shows_all_and_letters_narrow_it() -> None:
    async with chat() as it:
        await it.pilot.press("/")
        await it.until(lambda: "/spec" in rows(it))
        await it.sees("every key, command and figure")
        await it.pilot.press(*"sp")
        await it.until(lambda: rows(it)[0] == "/spec")
        await it.sees("off|lookup|draft|auto", "who proposes tokens for the next answer", "ctrl+t")
        await it.pilot.press("backspace", "backspace", "backspace")
        await it.until(lambda: rows(it) == [])


async def test_tab_completes_and_enter_completes_and_runs() -> None:
    async with chat() as it:
        await it.pilot.press("/", "s", "p", "tab")
        assert it.composer.text == "/spec "
        await it.until(lambda: rows(it) == ["off", "lookup", "draft", "auto"])
        assert highlighted(it) is None
        await it.sees("no draft model chosen")
        await it.pilot.press("l", "enter")
        await it.sees("speculation auto → lookup, in this chat.")
        assert it.composer.text == ""
        assert rows(it) == []


async def test_up_and_down_choose_and_go_round() -> None:
    async with chat() as it:
        await it.pilot.press(*"/spec ")
        await it.until(lambda: rows(it) != [])
        await it.pilot.press("down", "down")
        assert highlighted(it) == "lookup"
        await it.pilot.press("up", "up")
        assert highlighted(it) == "auto"
        await it.pilot.press("up", "up", "up", "enter")
        await it.sees("speculation auto → off")


async def test_keys_that_come_before_the_list_was_drawn_are_for_it() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("hello")
        await it.pilot.press("/", "n", "e", "enter")
        await it.until(lambda: it.screen.chat.empty)


async def test_esc_closes_the_list_and_not_the_answer() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        await it.pilot.press("/")
        await it.until(lambda: rows(it) != [])
        await it.pilot.press("escape")
        await it.until(lambda: rows(it) == [])
        assert client.cancels == 0
        await it.pilot.press("s")
        assert rows(it) == [], "closed for this word"
        await it.pilot.press("backspace", "backspace", "/")
        await it.until(lambda: rows(it) != [])
        await it.pilot.press("escape")
        await it.until(lambda: rows(it) == [])
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)


async def test_a_click_completes_and_runs() -> None:
    async with chat(size=(110, 34)) as it:
        await it.pilot.press(*"/spec ")
        await it.until(lambda: rows(it) != [])
        await it.settle()
        await it.pilot.click(Completions, offset=(5, 2))
        await it.sees("speculation auto → lookup")
        assert it.composer.has_focus


async def test_a_second_line_or_a_path_has_no_list() -> None:
    async with chat() as it:
        await it.pilot.press("/", "ctrl+j")
        await it.until(lambda: rows(it) == [])
        it.composer.text = "/usr/bin"
        it.composer.move_cursor(it.composer.document.end)
        await it.pilot.pause()
        assert rows(it) == []


async def test_models_are_looked_for_when_they_are_wanted() -> None:
    async with chat(shelf=FakeShelf()) as it:
        await it.pilot.press(*"/model ")
        await it.until(lambda: "SmolLM2-135M + lookup" in rows(it))
        await it.sees("in use", "on this disk (LM Studio)")
        await it.pilot.press(*"mis")
        await it.until(lambda: rows(it) == ["mistral-7b-instruct-v0.3 Q4_K_M"])
        await it.pilot.press("enter")
        await it.sees("answers from now on; the chat stays.")


async def test_themes_and_presets() -> None:
    async with chat() as it:
        await it.pilot.press(*"/theme slip")
        own = ["slipstream-dark", "slipstream-light", "slipstream-high-contrast", "slipstream-terminal"]
        await it.until(lambda: rows(it) == own)
        it.composer.text = ""
        await it.pilot.press(*"/temp ")
        await it.until(lambda: rows(it) == ["0", "0.3", "0.7", "1", "default"])
        await it.sees("precise", "balanced", "creative", "0.7, as for every chat")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("notes.txt", "src/main.py", "src/my plan.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("bread\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_files_of_the_working_folder(folder: Path) -> None:
    async with chat() as it:
        await it.pilot.press(*"see @")
        await it.until(lambda: rows(it) == ["notes.txt", "src/main.py", "src/my plan.md"])
        assert highlighted(it) is None
        await it.pilot.press(*"plan")
        await it.until(lambda: rows(it) == ["src/my plan.md"])
        await it.pilot.press("enter")
        await it.until(lambda: it.composer.text == 'see @"src/my plan.md" ')
        await it.sees("+ src/my plan.md  6 bytes · 1 token")
        assert not it.questions


async def test_an_address_is_no_file(folder: Path) -> None:
    async with chat() as it:
        await it.pilot.press(*"me@notes")
        await it.pilot.pause()
        assert rows(it) == []


@pytest.mark.parametrize("width", [48, 60, 80])
async def test_where_there_is_little_room_no_word_is_cut(width: int) -> None:
    async with chat(FakeClient([answer("ok")]), shelf=FakeShelf(), size=(width, 24)) as it:
        await it.ask("hello")
        await it.pilot.press("/")
        await it.until(lambda: rows(it) != [])
        lines = [line for line in it.lines if line.strip().startswith("/")]
        words = {one.shown: re.split(r"[\s,;]+", f"{one.words} {one.help}") for one in popup(it).suggestions}
        for line in lines:
            name, *said = re.split(r"[\s,;]+", line.rstrip("▁▂▃▄▅▆▇█ ").removesuffix("…").strip())
            assert name in words
            assert [word for word in said if word not in words[name]] == [], line
            assert len(said) > 1, line
