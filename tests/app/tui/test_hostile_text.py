"""Text of models, users, files and errors is data: literal on screen, untouched in the store."""

from __future__ import annotations

import pytest

from app.clean import StreamCleaner, clean, clean_input, clean_line
from engine.protocol import ErrorCode, Loaded
from tests.app.tui.fake_client import FakeClient, answer, failure, model, pair, reads, receipt, says
from tests.app.tui.harness import chat

ESCAPES = "\x1b]52;c;aGk=\x07\x1b[2Jx\x9b31my\rz\x7f"
SHOWN = "␛]52;c;aGk=␇␛[2Jx\ufffd31my␍z␡"


def control_codes(text: str) -> list[str]:
    return [repr(c) for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E]


async def test_escape_codes_from_the_model_are_shown_and_stored_as_said() -> None:
    async with chat(FakeClient([answer(ESCAPES, reason="stop")])) as it:
        await it.ask("go")
        await it.sees(SHOWN)
        assert control_codes(it.shown) == []
        assert it.stored[-1][2] == ESCAPES


@pytest.mark.parametrize("text", ["[bold]x[/]", "[1]", "[red]x", "[/]", "[@click=app.quit]here[/]", "[$primary 50%]"])
async def test_markup_is_literal_in_questions_answers_and_titles(text: str) -> None:
    async with chat(FakeClient([answer(f"You said {text} there")])) as it:
        await it.ask(text)
        await it.sees(f"You said {text} there")
        assert it.lines[0].startswith(f" slipstream   {text}")
        assert it.shown.count(text) == 3


async def test_markup_in_a_table_is_literal_also_under_the_pointer() -> None:
    async with chat(FakeClient([answer("| a | b |\n|---|---|\n| [/] | [red]x |\n")])) as it:
        await it.ask("go")
        await it.sees("[/]", "[red]x")
        y = next(n for n, line in enumerate(it.lines) if "[red]x" in line)
        await it.pilot.hover(offset=(it.lines[y].index("[/]"), y))
        await it.settle()
        await it.sees("[/]", "[red]x")


async def test_markup_in_an_error_is_literal() -> None:
    words = 'The hub said {"a": [true, 1]} \x1b[31mred'
    async with chat(FakeClient([[reads(1, 1), failure(ErrorCode.INTERNAL, words)]])) as it:
        await it.send("go")
        await it.sees('{"a": [true, 1]} ␛[31mred')


async def test_names_notes_and_reasons_are_cleaned() -> None:
    hostile = pair(refused="\x1b[2Jbad [bold]reason").model_copy(
        update={"target": model("/m/e\x1b[31mvil\u202e[b].gguf"), "badge": "fast\x1b[0m"}
    )
    proof = receipt("none", refused="\x1b[2Jnot [b]this", notes=("\x9bnote",))
    client = FakeClient([answer("ok", proof=proof)], loads=[[Loaded(id=0, pair=hostile)]])
    async with chat(client, size=(140, 40)) as it:
        await it.ask("go")
        await it.pilot.press("ctrl+t")
        await it.sees("bad [bold]reason", "not [b]this")
        assert control_codes(it.shown) == []


async def test_links_in_answers_open_nothing() -> None:
    opened: list[str] = []
    async with chat(FakeClient([answer("See [the page](https://example.org/x) now.")])) as it:
        it.app.open_url = lambda url, **more: opened.append(url)  # type: ignore[method-assign, assignment]
        await it.ask("go")
        await it.sees("See the page now.")
        at = it.shown.splitlines()
        y = next(n for n, line in enumerate(at) if "See the page" in line)
        await it.pilot.click(offset=(at[y].index("the page") + 1, y))
        await it.pilot.pause()
    assert opened == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_wide_and_joined_characters_arrive_whole(size: int) -> None:
    text = "日本語 한국어 👩‍👩‍👧‍👦 ❤️ 🇪🇺 e\u0301 شكرا"
    async with chat(FakeClient([[reads(1, 1), *says(text, size=size), *answer(text)[-1:]]])) as it:
        await it.ask("go")
        await it.sees("日本語 한국어")
        assert it.stored[-1][2] == text


def test_clean_keeps_plain_text_as_it_is() -> None:
    for text in ("", "plain", "tab\tand\nline", "日本 👩‍👧 e\u0301 \u200f", "  two spaces"):
        assert clean(text) == text


def test_clean_replaces_one_by_one() -> None:
    assert clean(ESCAPES) == SHOWN
    assert clean("a\r\nb\rc") == "a\nb␍c"
    assert clean("\ud800\u202e\u2066\U000e0041") == "\ufffd" * 4
    assert clean("a\u2028b\x85c") == "a\nb\nc"
    assert clean_input("a\rb\r\nc") == "a\nb\nc"
    clean("\ud800").encode("utf-8")


def test_clean_line_is_one_short_line() -> None:
    assert clean_line(" a\n\tb \x1b c ") == "a b ␛ c"
    assert clean_line("x" * 300, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_stream_is_cleaned_as_the_whole_would_be(cut: int) -> None:
    text = "ab\r\ncd\re\x1bf\r"
    cleaner = StreamCleaner()
    pieces = [cleaner.feed(text[at : at + cut]) for at in range(0, len(text), cut)]
    assert "".join(pieces) + cleaner.finish() == clean(text)
