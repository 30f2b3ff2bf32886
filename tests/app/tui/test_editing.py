"""Messages that are edited and sent again, as branches of their own."""

from __future__ import annotations

from engine.protocol import ErrorCode
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, failure, says
from tests.app.tui.harness import chat
from tests.app.tui.turned import EDITING, all_messages, press, said


async def test_an_edited_message_begins_a_branch_and_the_old_one_stays_reachable() -> None:
    client = FakeClient([answer("One."), answer("Two."), answer("Three.")])
    async with chat(client) as it:
        await it.ask("first")
        await it.ask("second")
        await it.pilot.press("alt+up", "up", "e")
        await it.sees(EDITING)
        assert it.composer.text == "second"
        assert "esc leave the edit" in it.footer
        await press(it, *" please", "enter")
        await it.sees("Three.")
        assert EDITING not in it.shown
        assert it.questions == ["first", "second please"]
        assert said(client) == ["first", "One.", "second please"]
        await it.sees("‹ 2/2 ›")
        await it.pilot.press("alt+up", "up", "left")
        await it.sees("Two.", "‹ 1/2 ›")
        assert it.questions == ["first", "second"]
        assert all_messages(it) == ["first", "One.", "second", "Two.", "second please", "Three."]


async def test_the_first_message_can_be_edited() -> None:
    client = FakeClient([answer("One."), answer("Two.")])
    async with chat(client) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "up", "e")
        await press(it, "!", "enter")
        assert said(client) == ["first!"]
        await it.sees("Two.", "‹ 2/2 ›")
        await it.pilot.press("alt+up", "up", "left")
        await it.sees("One.")
        assert it.questions == ["first"]


async def test_a_draft_waits_while_a_message_is_edited() -> None:
    async with chat(FakeClient([answer("One."), answer("Two.")])) as it:
        await it.ask("first")
        it.composer.text = "a thought"
        await it.pilot.press("alt+up", "up", "e")
        await it.until(lambda: it.composer.text == "first")
        await press(it, "!", "enter")
        assert it.composer.text == "a thought"


async def test_esc_leaves_an_edit_and_keeps_what_was_changed_for_the_next_one() -> None:
    client = FakeClient([answer("One.")])
    async with chat(client) as it:
        await it.ask("first")
        it.composer.text = "a thought"
        await it.pilot.press("alt+up", "up", "e", "!")
        await it.until(lambda: it.composer.text == "first!")
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.text == "a thought")
        assert it.notice == "What you changed is kept for now: e on that message brings it back."
        assert EDITING not in it.shown
        await it.pilot.press("alt+up", "up", "e")
        await it.until(lambda: it.composer.text == "first!")
    assert len(client.asked) == 1


async def test_an_edit_that_is_too_long_is_in_the_composer_again_and_the_old_branch_on_screen() -> None:
    words = "The conversation has 9,120 tokens and the context holds 8,192."
    client = FakeClient([answer("One."), answer("Two."), [failure(ErrorCode.PROMPT_TOO_LARGE, words)], answer("Yes.")])
    async with chat(client) as it:
        await it.ask("first")
        await it.ask("second")
        await it.pilot.press("alt+up", "up", "up", "up", "e", *"!!", "enter")
        await it.sees(words, EDITING, "One.", "second", "Two.")
        assert it.composer.text == "first!!"
        assert all_messages(it) == ["first", "One.", "second", "Two."]
        await press(it, "backspace", "enter")
        assert said(client) == ["first!"]


async def test_another_chat_leaves_the_edit() -> None:
    async with chat(FakeClient([answer("One.")])) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "up", "e")
        await it.sees(EDITING)
        await it.pilot.press("ctrl+n")
        await it.sees("fast answers from a model")
        assert EDITING not in it.shown
        assert it.composer.text == ""


async def test_a_click_leaves_the_edit() -> None:
    async with chat(FakeClient([answer("One.")])) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "up", "e")
        await it.sees(EDITING)
        await it.pilot.click("EditingRow")
        await it.until(lambda: EDITING not in it.shown)


async def test_an_edit_cannot_be_sent_while_an_answer_is_made() -> None:
    client = FakeClient([answer("One."), [*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "up", "e")
        await it.sees(EDITING)
        await it.screen.do("again")
        await it.sees("Slow")
        await it.pilot.press("!", "enter")
        await it.sees("One answer at a time: your text waits here.")
        assert it.composer.text == "first!"
        client.go("end")
        await it.until(lambda: it.idle)
    assert len(client.asked) == 2
