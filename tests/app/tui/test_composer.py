"""Writing a message."""

from __future__ import annotations

import time

from textual import events

from app.tui.driver import is_unbracketed_paste
from tests.app.tui.fake_client import FakeClient, Wait, answer, says
from tests.app.tui.harness import chat


async def test_enter_sends_and_ctrl_j_alt_enter_shift_enter_break_the_line() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.pilot.press("a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d")
        assert it.composer.text == "a\nb\nc\nd"
        await it.pilot.press("enter")
        await it.until(lambda: it.questions == ["a\nb\nc\nd"])
        assert it.composer.text == ""


async def test_it_grows_to_eight_lines_and_no_further() -> None:
    async with chat() as it:
        assert it.composer.size.height == 1
        it.composer.text = "1\n2\n3"
        await it.until(lambda: it.composer.size.height == 3)
        it.composer.text = "\n".join(map(str, range(30)))
        await it.until(lambda: it.composer.size.height == 8)


async def test_a_paste_is_one_text_with_its_line_ends() -> None:
    async with chat() as it:
        it.composer.post_message(events.Paste("one\r\ntwo\rthree\n"))
        await it.until(lambda: it.composer.text != "")
        assert it.composer.text == "one\ntwo\nthree\n"
        assert it.questions == []


async def test_control_codes_in_a_paste_become_visible() -> None:
    async with chat() as it:
        it.composer.post_message(events.Paste("\x1b[31mred\x9b2J\u202e"))
        await it.until(lambda: it.composer.text != "")
        assert it.composer.text == "␛[31mred\ufffd2J\ufffd"


async def test_a_paste_of_five_thousand_lines_is_usable_within_a_second() -> None:
    text = "\n".join(f"line {n} with some words to fill it up to a usual width" for n in range(5000))
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        begun = time.monotonic()
        it.composer.post_message(events.Paste(text))
        await it.until(lambda: it.composer.text != "")
        await it.pilot.press("!")
        assert time.monotonic() - begun < 3, "one second on a free machine"
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
