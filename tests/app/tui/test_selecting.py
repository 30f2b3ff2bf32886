"""One turn is selected: its bar, its keys, and the way back to the composer."""

from __future__ import annotations

import pytest
from textual import events

from app.tui.widgets.turns import AnswerTurn, UserTurn
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.test_conversations import fill

CODE = "Look:\n\n```python\nprint(1)\n```\n"


async def selected(it: Chat) -> None:
    """Wait for a selection, its bar and its footer."""
    await it.until(lambda: it.screen.selected is not None and "esc back" in it.footer, "a selection")


@pytest.mark.parametrize("key", ["alt+up", "ctrl+up"])
async def test_the_last_turn_is_selected_and_the_footer_shows_what_works_on_it(key: str) -> None:
    async with chat(FakeClient([answer("Volga.")]), size=(120, 34)) as it:
        assert "turns" not in it.footer
        await it.ask("river?")
        assert "alt+↑ turns" in it.footer
        await it.pilot.press(key)
        await selected(it)
        assert isinstance(it.screen.selected, AnswerTurn)
        row = next(line for line in it.lines if "Volga." in line)
        assert row.startswith("▎")
        for shown in ("r again", "c copy", "s save", "esc back"):
            assert shown in it.footer
        for hidden in ("e edit", "g go on", "copy code", "variants"):
            assert hidden not in it.footer


async def test_a_message_of_the_user_can_be_edited_and_an_answer_with_code_copied_by_block() -> None:
    async with chat(FakeClient([answer(CODE)]), size=(120, 34)) as it:
        await it.ask("code?")
        await it.pilot.press("alt+up")
        await selected(it)
        assert "b copy code" in it.footer
        await it.sees("copy  1")
        await it.pilot.press("up")
        await it.until(lambda: "e edit" in it.footer)
        assert isinstance(it.screen.selected, UserTurn)
        assert "copy code" not in it.footer
        assert "copy  1" not in it.shown


@pytest.mark.parametrize("key", ["escape", "enter", "alt+down", "down"])
async def test_ways_back_to_the_composer(key: str) -> None:
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up")
        await selected(it)
        await it.pilot.press(key)
        await it.until(lambda: it.screen.focused is it.composer)
        assert it.screen.selected is None
        assert "▎" not in it.shown
        assert it.questions == ["river?"]


async def test_what_is_typed_goes_to_the_composer_in_order() -> None:
    """Keys that are queued before the first of them was handled: "hello" has an e in it, which edits."""
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "up")
        await selected(it)
        for character in "hello r1!":
            it.app.post_message(events.Key("space" if character == " " else character, character))
        await it.until(lambda: it.composer.text == "hello r1!", "what was typed")
        assert it.screen.selected is None
        assert it.screen.focused is it.composer


async def test_alt_up_and_a_command_in_one_go() -> None:
    client = FakeClient([answer("Volga."), answer("Don.")])
    async with chat(client) as it:
        await it.ask("river?")
        for key, character in (("alt+up", None), ("r", "r")):
            it.app.post_message(events.Key(key, character))
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        assert it.composer.text == ""


async def test_a_paste_goes_to_the_composer() -> None:
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up")
        await selected(it)
        it.app.post_message(events.Paste("pasted\ntext"))
        await it.until(lambda: it.composer.text == "pasted\ntext")
        assert it.screen.selected is None


async def test_a_click_selects_a_turn_and_another_one_leaves_it() -> None:
    async with chat(FakeClient([answer("Volga.")])) as it:
        await it.ask("river?")
        await it.pilot.click(UserTurn, offset=(1, 0))
        await selected(it)
        assert isinstance(it.screen.selected, UserTurn)
        await it.pilot.click(AnswerTurn, offset=(1, 0))
        await it.until(lambda: isinstance(it.screen.selected, AnswerTurn))
        await it.pilot.click("#composer")
        await it.until(lambda: it.screen.selected is None)
        assert it.screen.focused is it.composer


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (["alt+up", "e"], "Only a message of yours can be edited; r asks for another answer."),
        (["alt+up", "g"], "This answer is complete: there is nothing to go on with. r asks for another one."),
        (["alt+up", "b"], "There is no code block here."),
        (["alt+up", "left"], "There is no other variant: r makes one of an answer, e one of a message."),
        (["alt+up", "up", "g"], "Only an answer can go on."),
    ],
)
async def test_a_key_that_does_nothing_here_says_why(keys: list[str], sentence: str) -> None:
    client = FakeClient([answer("Volga.")])
    async with chat(client) as it:
        await it.ask("river?")
        await it.pilot.press(*keys)
        await it.until(lambda: it.notice == sentence, sentence)
        assert it.composer.text == ""
        assert it.screen.selected is not None
    assert len(client.asked) == 1


async def test_a_block_that_is_not_there_is_named() -> None:
    async with chat(FakeClient([answer(CODE)])) as it:
        await it.ask("code?")
        await it.pilot.press("alt+up", "3")
        await it.until(lambda: it.notice == "There is no code block 3 here.")


@pytest.mark.parametrize("key", ["r", "e", "left"])
async def test_while_an_answer_is_made_the_chat_does_not_branch(key: str) -> None:
    client = FakeClient([answer("One."), answer("Two."), [*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "r")
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        await it.send("second")
        await it.sees("Slow")
        await it.pilot.press("alt+up", "up", "up", *(["up"] if key == "e" else []), key)
        await it.until(lambda: it.notice == "An answer is being made: esc stops it, then this works.")
        assert "esc back" in it.footer
        await it.pilot.press("escape")
        await it.until(lambda: "esc stop" in it.footer)
        client.go("end")
        await it.until(lambda: it.idle)
    assert len(client.asked) == 3


async def test_going_up_mounts_earlier_turns() -> None:
    store = memory_store()
    fill(store, 40)
    async with chat(store=store) as it:
        await it.sees("question 39")
        for _ in range(30):
            await it.pilot.press("alt+up")
        await it.until(lambda: it.screen.selected is not None and it.screen.selected.turn.text == "question 25")
        await it.sees("question 25")


async def test_a_turn_higher_than_the_view_stays_where_it_is() -> None:
    async with chat(FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))])) as it:
        await it.ask("long")
        await it.sees("paragraph 59")
        await it.pilot.press("alt+up")
        await selected(it)
        await it.sees("paragraph 59")
        assert it.transcript.following


async def test_nothing_to_select_in_an_empty_chat() -> None:
    async with chat() as it:
        await it.pilot.press("alt+up")
        assert it.screen.selected is None
        assert it.screen.focused is it.composer


async def test_the_palette_acts_on_the_last_answer() -> None:
    client = FakeClient([answer("One."), answer("Two.")])
    async with chat(client) as it:
        await it.ask("first")
        titles = [command.title for command in it.app.get_system_commands(it.screen)]
        assert {"Answer again", "Edit and send again", "Copy answer", "Save answer"} <= set(titles)
        assert not {"Go on", "Copy code", "Variant before"} & set(titles)
        await it.pilot.press("ctrl+p")
        await it.pilot.press(*"answer again")
        await it.sees("r: another answer; this one stays beside it")
        await it.pilot.press("enter")
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        await it.sees("Two.", "‹ 2/2 ›")
