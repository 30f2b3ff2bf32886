"""What can be done to turns, together with commands, attached files, unsent text, thoughts, figures and other chats."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import ChatStore
from app.tui import commands
from app.tui.screens.receipt import ReceiptScreen
from engine.protocol import AnswerSoFar, ErrorCode
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, failure, reads, says
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.test_continuing import begun, continued
from tests.app.tui.turned import EDITING, all_messages, press, said

BLOCK = "notes.txt\n```\nbread\n```"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes.txt").write_text("bread\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def unsent(store: ChatStore) -> str:
    conversation = store.last_conversation()
    assert conversation is not None
    return store.unsent(conversation.id).text


async def edits(it: Chat, text: str) -> None:
    """Edit the last message, which says ``text``."""
    await it.pilot.press("alt+up", "up", "e")
    await it.until(lambda: it.composer.text == text and EDITING in it.shown)


# ----------------------------------------------------------------------------------------------------------- commands


async def test_commands_do_what_the_keys_do() -> None:
    client = FakeClient([begun(), answer("time.", proof=continued()), answer("Long ago."), answer("No.")])
    async with chat(client) as it:
        await it.ask("a story")
        await it.send("/continue")
        await it.sees("Once upon a time.", "‹ 2/2 ›")
        await it.until(lambda: it.idle)
        await it.send("/regenerate")
        await it.sees("Long ago.", "‹ 3/3 ›")
        await it.until(lambda: it.idle)
        await it.send("/previous")
        await it.sees("Once upon a time.", "‹ 2/3 ›")
        await it.send("/next")
        await it.sees("Long ago.", "‹ 3/3 ›")
        await it.send("/copy")
        await it.until(lambda: it.app.clipboard == "Long ago.")
        await it.send("/edit")
        await it.until(lambda: it.composer.text == "a story")
        await it.pilot.press(*", no")
        await it.pilot.press("enter")
        await it.sees("No.")
        await it.until(lambda: it.idle)
        assert said(client) == ["a story, no"]
        await it.send("/receipt")
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))


async def test_a_command_that_can_do_nothing_says_why_and_stays() -> None:
    async with chat(FakeClient([answer("The end.")])) as it:
        for typed, words in (
            ("/regenerate", "Nothing has been answered yet."),
            ("/receipt", "There is no answer with figures yet."),
        ):
            await it.send(typed)
            await it.until(lambda words=words: it.notice == words)
            assert it.composer.text == typed
        await it.ask("a story")
        for typed, words in (
            ("/continue", "This answer is complete: there is nothing to go on with. r asks for another one."),
            ("/copy-code", "There is no code block here."),
            ("/previous", "There is no other variant: r makes one of an answer, e one of a message."),
        ):
            await it.send(typed)
            await it.until(lambda words=words: it.notice == words, words)
            assert it.composer.text == typed


async def test_a_code_block_by_its_number() -> None:
    async with chat(FakeClient([answer("```\none\n```\n\n```\ntwo\n```")])) as it:
        await it.ask("code")
        await it.send("/copy-code 2")
        await it.until(lambda: it.app.clipboard == "two")
        await it.send("/copy-code 3")
        await it.until(lambda: it.notice == "There is no code block 3 here.")
        await it.send("/copy-code one")
        await it.until(lambda: it.notice == "/copy-code takes the number of a code block: /copy-code 2.")


def test_commands_name_their_keys() -> None:
    keys = {command.title: command.shown_key for command in commands.registry().values()}
    assert keys["Answer again"] == "alt+↑ r"
    assert keys["Copy code"] == "alt+↑ b"
    assert keys["Variant before"] == "alt+↑ ←"


async def test_i_opens_the_receipt_of_the_selected_answer() -> None:
    async with chat(FakeClient([answer("One."), answer("Two.")])) as it:
        await it.ask("first")
        await it.ask("second")
        await it.pilot.press("alt+up", "up", "i")
        await it.until(lambda: it.notice == "There is no answer with figures yet.")
        await it.pilot.press("up", "i")
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen)
        assert it.screen.selected is it.answers[0]


async def test_esc_closes_the_list_of_commands_before_it_leaves_an_edit() -> None:
    async with chat(FakeClient([answer("One.")])) as it:
        await it.ask("first")
        await edits(it, "first")
        it.composer.text = ""
        await it.pilot.press(*"/te")
        await it.sees("/temp")
        await it.pilot.press("escape")
        await it.until(lambda: "randomness" not in it.shown)
        assert EDITING in it.shown
        await it.pilot.press("escape")
        await it.until(lambda: EDITING not in it.shown)


# -------------------------------------------------------------------------------------------- attached and unsent text


async def test_an_edited_message_keeps_the_files_that_it_names(folder: Path) -> None:
    client = FakeClient([answer("ok")] * 4)
    async with chat(client) as it:
        await it.ask("sum up @notes.txt")
        (folder / "notes.txt").unlink()
        await edits(it, "sum up @notes.txt")
        await press(it, *", please", "enter")
        assert it.questions == ["sum up @notes.txt, please"]
        assert client.asked[-1].messages[-1].content == f"sum up @notes.txt, please\n\n{BLOCK}"
        await it.sees("+ notes.txt")
        await press(it, "alt+up", "r")
        assert client.asked[-1].messages[-1].content.endswith(BLOCK), "answered again with its file"
        await edits(it, "sum up @notes.txt, please")
        it.composer.text = "never mind"
        await press(it, "enter")
        assert client.asked[-1].messages[-1].content == "never mind"


async def test_an_edited_message_takes_the_file_as_it_is_now(folder: Path) -> None:
    client = FakeClient([answer("ok")] * 2)
    async with chat(client) as it:
        await it.ask("sum up @notes.txt")
        (folder / "notes.txt").write_text("butter\n")
        await edits(it, "sum up @notes.txt")
        await press(it, "enter")
        assert client.asked[-1].messages[-1].content == "sum up @notes.txt\n\nnotes.txt\n```\nbutter\n```"


async def test_the_text_that_waits_is_the_unsent_one_while_a_message_is_edited() -> None:
    store = memory_store()
    async with chat(FakeClient([answer("One."), answer("Two.")]), store=store) as it:
        await it.ask("first")
        it.composer.text = "a thought"
        await edits(it, "first")
        await it.pilot.press("!")
        it.screen.keep_unsent()
        assert unsent(store) == "a thought"
        await press(it, "enter")
        assert it.composer.text == "a thought"
        assert unsent(store) == "a thought"


async def test_a_pasted_text_waits_folded() -> None:
    large = "\n".join(f"line {number}" for number in range(500))
    async with chat(FakeClient([answer("One.")])) as it:
        await it.ask("first")
        it.composer.text = large
        await it.sees("[pasted")
        await edits(it, "first")
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.text == large)
        assert "[pasted" in it.shown


async def test_what_was_set_aside_for_a_command_waits_too() -> None:
    async with chat(FakeClient([answer("One.")])) as it:
        await it.ask("first")
        it.composer.text = "a thought"
        it.screen.writing.begin("/")
        await it.pilot.press(*"edit", "enter")
        await it.until(lambda: it.composer.text == "first")
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.text == "a thought")


async def test_an_edit_is_left_with_the_chat_and_its_text_is_not_that_of_the_other_one() -> None:
    store = memory_store()
    async with chat(FakeClient([answer("One.")]), store=store) as it:
        await it.ask("first")
        first = it.screen.chat.conversation.id
        it.composer.text = "a thought"
        await edits(it, "first")
        await it.pilot.press("!", "ctrl+n")
        await it.until(lambda: it.screen.chat.conversation.id != first)
        await it.until(lambda: EDITING not in it.shown)
        assert it.composer.text == ""
        assert store.unsent(first).text == "a thought"
        await it.screen.open_conversation(first)
        assert it.composer.text == "a thought"
        await edits(it, "first!")


async def test_an_earlier_answer_made_again_leaves_the_edit_of_a_later_message() -> None:
    client = FakeClient([answer("One."), answer("Two."), answer("Uno."), answer("Due.")])
    async with chat(client) as it:
        await it.ask("first")
        await it.ask("second")
        await edits(it, "second")
        await it.pilot.press("!")
        await press(it, "alt+up", "up", "up", "r")
        await it.sees("Uno.")
        assert EDITING not in it.shown
        assert it.composer.text == ""
        await it.ask("third")
        assert said(client) == ["first", "Uno.", "third"]
        assert "second" in all_messages(it)


async def test_a_message_that_looks_like_a_command_is_edited_as_it_was_typed() -> None:
    client = FakeClient([answer("One."), [failure(ErrorCode.PROMPT_TOO_LARGE, "Too long.")]])
    async with chat(client) as it:
        await it.send("//new chat")
        await it.until(lambda: it.questions == ["/new chat"] and it.idle)
        await edits(it, "//new chat")
        await it.pilot.press("!", "enter")
        await it.sees("Too long.", EDITING)
        assert it.composer.text == "//new chat!"
        assert all_messages(it) == ["/new chat", "One."]


# ------------------------------------------------------------------------------------------------ thoughts and figures


async def test_thoughts_are_not_copied() -> None:
    client = FakeClient(
        [[reads(1, 1), *says("<think>Hm.</think>\n\nYes."), Wait("end"), ends("<think>Hm.</think>\n\nYes.")]]
    )
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Yes.")
        await it.pilot.press("alt+up", "c")
        await it.until(lambda: it.app.clipboard == "Yes.")
        it.app.copy_to_clipboard("")
        client.go("end")
        await it.until(lambda: it.idle)
        await it.pilot.press("c")
        await it.until(lambda: it.app.clipboard == "Yes.")


async def test_a_thought_that_was_cut_off_goes_on_without_a_count() -> None:
    first = "<think>Which river"
    rest = " is it?</think>\n\nThe Volga."
    client = FakeClient([begun(first), [reads(1, 1), *says(rest[:8]), Wait("more"), *says(rest[8:]), ends(rest)]])
    async with chat(client) as it:
        await it.ask("go")
        await it.pilot.press("alt+up", "g")
        await it.sees("thinking…", "Which river is it")
        assert "tokens" not in next(line for line in it.lines if "thinking…" in line)
        client.go("more")
        await it.until(lambda: it.idle)
        await it.sees("▸ thought, 18 characters", "The Volga.")
        assert it.stored[-1][2] == first + rest
        assert client.asked[1].answer_so_far == AnswerSoFar(token_ids=(11, 12), text=first)


async def test_a_continued_answer_has_no_xray_and_says_so() -> None:
    client = FakeClient([begun(), answer("time.", proof=continued())])
    async with chat(client) as it:
        await it.ask("a story")
        await it.pilot.press("f4")
        await press(it, "alt+up", "g")
        await it.sees("Once upon a time.", "no X-ray: who proposed these tokens was not kept")
        await it.pilot.press("alt+up", "left")
        await it.until(lambda: "time." not in it.shown)
        assert it.answers[0].xray, "a variant that is shown has it, too"
