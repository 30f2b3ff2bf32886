"""Writing a message."""

from __future__ import annotations

import time

import pytest
from rich.cells import cell_len
from textual import events

from app.clean import clean
from app.tui.stand_ins import HIDE
from app.tui.terminal_input import is_unbracketed_paste
from app.tui.widgets.prompt_row import NextAnswer, PromptRow
from tests.app.tui.fake_client import FakeClient, Wait, answer, says
from tests.app.tui.harness import chat
from tests.fixtures.pace import limit


async def test_enter_sends_and_ctrl_j_alt_enter_shift_enter_break_the_line() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.pilot.press("a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d")
        assert it.composer.text == "a\nb\nc\nd"
        await it.pilot.press("enter")
        await it.until(lambda: it.questions == ["a\nb\nc\nd"])
        assert it.composer.text == ""


async def test_it_grows_to_a_share_of_the_screen_and_no_further() -> None:
    async with chat() as it:
        assert it.composer.size.height == 1
        it.composer.text = "1\n2\n3"
        await it.until(lambda: it.composer.size.height == 3)
        it.composer.text = "\n".join(map(str, range(30)))
        await it.until(lambda: it.composer.size.height == 13)
        await it.pilot.resize_terminal(80, 24)
        await it.until(lambda: it.composer.size.height == 9)


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (60, 12), (160, 60)])
async def test_its_row_ends_where_the_text_ends(size: tuple[int, int]) -> None:
    async with chat(size=size) as it:
        row = it.screen.query_one(PromptRow)
        for lines in (60, 20, 3, 1, 20):
            it.composer.text = "\n".join(f"line {number}" for number in range(lines))
            await it.until(lambda: it.composer.keeps_height)
            assert row.size.height == it.composer.size.height
        assert it.screen.query_one(NextAnswer).size.height == 1


async def test_a_paste_is_one_text_with_its_line_ends() -> None:
    async with chat() as it:
        it.composer.post_message(events.Paste("one\r\ntwo\rthree\n"))
        await it.until(lambda: it.composer.text != "")
        assert it.composer.text == "one\ntwo\nthree\n"
        assert it.questions == []


async def test_a_paste_is_kept_and_sent_as_it_was_said_and_drawn_with_stand_ins() -> None:
    said = "\x1b[31mred\x9b2J\u202e a\x0bb\x0cc\x85d\u2028e\U000e0041 f\tg"
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        it.composer.post_message(events.Paste(said))
        await it.sees("␛[31mred\ufffd2J\ufffd a␋b␌c␤d␤e\ufffd f")
        assert it.composer.text == said
        assert it.composer.document.line_count == 1
        await it.pilot.press("home", "delete", "z", "end", "!")
        said = f"z{said[1:]}!"
        it.composer.select_all()
        assert it.composer.selected_text == said
        await it.pilot.press("ctrl+x", "ctrl+v")
        assert it.app.clipboard == said
        await it.pilot.press("enter")
        await it.until(lambda: client.asked)
        assert client.asked[0].messages[-1].content == said
        assert it.stored[0][2] == said


def test_every_character_that_cleaning_changes_has_a_place_in_the_composer() -> None:
    changed = {code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000 and clean(chr(code)) != chr(code)}
    assert changed - {ord("\r")} <= set(HIDE)
    assert not changed & {ord(hidden) for hidden in HIDE.values()}
    for hidden in HIDE.values():
        assert cell_len(hidden) == 1
        assert len(hidden.splitlines()) == 1


async def test_private_characters_of_the_user_are_not_taken_for_stand_ins() -> None:
    said = "".join(map(chr, range(0x10FE00, 0x110000))) + "pasted 1 character, 1 line #1]"
    async with chat() as it:
        it.composer.post_message(events.Paste(said))
        await it.until(lambda: it.composer.text != "")
        assert it.composer.text == said


async def test_what_textual_calls_unprintable_can_be_typed() -> None:
    async with chat() as it:
        text = "می‌خواهم 👨‍👩‍👧 a\u00a0b\u00adc\u202ed\U0010fffd"
        for character in text:
            it.composer.post_message(events.Key(character, character))
        for key, character in (("ctrl+b", "\x02"), ("ctrl+g", "\x07"), ("null", "\x00")):
            it.composer.post_message(events.Key(key, character))
        await it.until(lambda: it.composer.text == text)


LARGE = "\n".join(f"{n:06} some more words of a large text" for n in range(20_000))


async def test_a_large_paste_is_folded_and_sent_whole() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.pilot.press("a")
        it.composer.post_message(events.Paste(LARGE))
        label = f"[pasted {len(LARGE):,} characters, 20,000 lines #1]"
        await it.sees(f"a{label}")
        begun = time.monotonic()
        await it.pilot.press(*"bcdefghijk")
        assert (time.monotonic() - begun) / 10 < limit(0.2)
        assert it.composer.size.height == 1
        it.composer.post_message(events.Paste("x" * 20_001))
        await it.sees("[pasted 20,001", "1 line #2]")
        said = f"a{LARGE}bcdefghijk{'x' * 20_001}"
        assert it.composer.text == said
        taken = it.composer.take()
        assert taken == said
        await it.pilot.press("n")
        it.composer.post_message(events.Paste(LARGE[1:]))
        await it.sees(" #3]")
        it.composer.give_back(taken)
        await it.sees(label, " #2]", " #3]")
        assert it.composer.text == f"{said}\nn{LARGE[1:]}"


async def test_a_label_goes_as_a_whole_and_nothing_is_written_into_it() -> None:
    async with chat() as it:
        await it.pilot.press("a")
        it.composer.post_message(events.Paste(LARGE))
        await it.sees(" #1]")
        await it.pilot.press("left", "left", "left", "b")
        assert it.composer.text == f"a{LARGE}b"
        await it.pilot.press("left", "left", "left", "delete")
        assert it.composer.text == "ab"
        await it.pilot.press("ctrl+underscore")
        assert it.composer.text == f"a{LARGE}b"
        await it.pilot.press("end", "left", "backspace")
        assert it.composer.text == "ab"
        await it.pilot.press(*f"[pasted {len(LARGE):,} characters, 20,000 lines #1]")
        assert len(it.composer.text) < 100


async def test_a_large_text_that_was_not_taken_here_comes_back_folded() -> None:
    async with chat() as it:
        it.composer.give_back(LARGE)
        await it.sees(" #1]")
        assert it.composer.text == LARGE


async def test_a_paste_of_five_thousand_lines_is_usable_within_a_second() -> None:
    text = "\n".join(f"line {n} with some words to fill it up to a usual width" for n in range(5000))
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        begun = time.monotonic()
        it.composer.post_message(events.Paste(text))
        await it.until(lambda: it.composer.text != "")
        await it.pilot.press("!")
        assert time.monotonic() - begun < limit(3), "one second on a free machine"
        await it.pilot.press("enter")
        await it.until(lambda: client.asked)
        assert client.asked[0].messages[-1].content == text + "!"


async def test_keys_of_the_transcript_work_from_the_composer() -> None:
    client = FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))])
    async with chat(client) as it:
        await it.ask("long")
        await it.sees("paragraph 59")
        await it.pilot.press("pageup")
        await it.until(lambda: not it.transcript.following)
        await it.sees("↓ end: back to the latest text")
        await it.pilot.press("end")
        await it.until(lambda: it.transcript.following)
        await it.sees("paragraph 59")
        assert "↓ end" not in it.shown
        await it.pilot.press("ctrl+home")
        await it.sees("paragraph 0")


async def test_ctrl_c_never_quits_and_says_what_to_do() -> None:
    async with chat() as it:
        await it.pilot.press("ctrl+c")
        await it.sees("Nothing is selected to copy. ctrl+q quits, esc stops an answer.")
        assert it.app.is_running


async def test_ctrl_c_copies_the_selection_of_the_composer() -> None:
    async with chat() as it:
        it.composer.text = "copy me"
        it.composer.select_all()
        await it.pilot.press("ctrl+c")
        assert it.app.clipboard == "copy me"
        await it.sees("Sent 7 characters to the terminal's clipboard (OSC 52).")


async def test_ctrl_c_copies_a_selection_of_an_answer() -> None:
    async with chat(FakeClient([answer("Volga it is.")])) as it:
        await it.ask("river?")
        it.screen.text_select_all()
        await it.pilot.press("ctrl+c")
        assert "Volga it is." in it.app.clipboard


async def test_ctrl_q_quits_also_during_an_answer_and_keeps_its_text() -> None:
    client = FakeClient([[*says("Half an ans"), Wait("never")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Half an ans")
        store, conversation = it.screen.store, it.screen.chat.conversation.id
        await it.pilot.press("ctrl+q")
        await it.until(lambda: not it.app.is_running) if it.app.is_running else None
    assert client.closed
    last = store.path(conversation)[-1]
    assert (last.state, last.content) == ("cancelled", "Half an ans")


async def test_the_palette_has_the_same_actions() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("hi")
        await it.pilot.press("ctrl+p")
        await it.pilot.press(*"speculation")
        await it.sees("ctrl+t: who proposes tokens for the next answer")
        await it.pilot.press("enter")
        await it.sees("speculation for the next answer")


def test_lines_in_one_read_without_brackets_are_a_paste() -> None:
    assert is_unbracketed_paste("one\rtwo\rthree")
    assert is_unbracketed_paste("one\r\ntwo\r\n")
    assert is_unbracketed_paste("rest\r", continued=True)
    for keys in ("hello\r", "\r", "\r\r", "a", "a\r\r", "\x1b[A\rb", "\x03a\rb", "\r\n"):
        assert not is_unbracketed_paste(keys), keys
