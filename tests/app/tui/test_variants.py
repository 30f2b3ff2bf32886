"""Answers made again, messages said otherwise, and the branches they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.widgets.turns import AnswerTurn, Speaker
from engine.protocol import GenerateSettings, Sampling
from tests.app.tui.fake_client import Crash, FakeClient, Wait, answer, ends, pair, reads, says
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.test_conversations import fill
from tests.app.tui.turned import all_messages, press, said

# ------------------------------------------------------------------------------------------------- answers made again


async def test_an_answer_made_again_stands_beside_the_one_before() -> None:
    client = FakeClient([answer("Volga."), answer("Don.")])
    async with chat(client, system="Be brief.") as it:
        await it.ask("river?")
        assert "‹" not in it.shown
        await press(it, "alt+up", "r")
        await it.sees("Don.", "‹ 2/2 ›")
        assert "Volga." not in it.shown
        assert it.questions == ["river?"]
        assert it.screen.focused is it.composer
        assert said(client) == ["Be brief.", "river?"], "its sibling is not in the prompt"
        assert client.asked[1].answer_so_far is None
        assert all_messages(it) == ["river?", "Volga.", "Don."]
        assert [text for _, _, text in it.stored] == ["river?", "Don."]


async def test_arrows_change_between_variants() -> None:
    async with chat(FakeClient([answer("Volga."), answer("Don."), answer("Ural.")])) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await press(it, "alt+up", "r")
        await it.sees("Ural.", "‹ 3/3 ›")
        await it.pilot.press("alt+up", "left", "left")
        await it.sees("Volga.", "‹ 1/3 ›")
        assert it.screen.selected is it.answers[0], "stays selected"
        await it.pilot.press("left")
        await it.settle()
        await it.sees("Volga.", "‹ 1/3 ›")
        await it.pilot.press("right")
        await it.sees("Don.", "‹ 2/3 ›")
        assert [text for _, _, text in it.stored] == ["river?", "Don."]


async def test_arrows_work_with_the_mouse() -> None:
    async with chat(FakeClient([answer("Volga."), answer("Don.")])) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await it.sees("‹ 2/2 ›")
        speaker = it.answers[0].query_one(Speaker)
        await it.pilot.click(speaker, offset=(speaker.size.width - 7, 0))
        await it.sees("Volga.", "‹ 1/2 ›")
        speaker = it.answers[0].query_one(Speaker)
        await it.pilot.click(speaker, offset=(speaker.size.width - 1, 0))
        await it.sees("Don.", "‹ 2/2 ›")


async def test_an_earlier_answer_made_again_begins_a_branch_and_the_old_one_comes_back_whole() -> None:
    client = FakeClient([answer("One."), answer("Two."), answer("Uno."), answer("Due.")])
    async with chat(client) as it:
        await it.ask("first")
        await it.ask("second")
        await press(it, "alt+up", "up", "up", "r")
        await it.sees("Uno.", "‹ 2/2 ›")
        assert it.questions == ["first"]
        assert said(client) == ["first"]
        await it.ask("and then?")
        assert said(client) == ["first", "Uno.", "and then?"]
        await it.pilot.press("alt+up", "up", "up", "left")
        await it.sees("One.", "‹ 1/2 ›", "second", "Two.")
        assert it.questions == ["first", "second"]
        await it.pilot.press("right")
        await it.sees("Uno.", "and then?", "Due.")
        assert all_messages(it) == ["first", "One.", "second", "Two.", "Uno.", "and then?", "Due."]


async def test_r_on_a_message_answers_it_again() -> None:
    client = FakeClient([answer("One."), answer("Two.")])
    async with chat(client) as it:
        await it.ask("first")
        await press(it, "alt+up", "up", "r")
        await it.sees("Two.", "‹ 2/2 ›")
        assert said(client) == ["first"]


async def test_the_next_message_follows_the_variant_on_screen() -> None:
    client = FakeClient([answer("Volga."), answer("Don."), answer("Yes.")])
    async with chat(client) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await it.pilot.press("alt+up", "left")
        await it.sees("Volga.")
        await it.pilot.press("escape")
        await it.ask("sure?")
        assert said(client) == ["river?", "Volga.", "sure?"]


async def test_the_variant_on_screen_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = open_chats(file, print)
    async with chat(FakeClient([answer("Volga."), answer("Don.")]), store=store) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await it.pilot.press("alt+up", "left")
        await it.sees("‹ 1/2 ›")
    store.close()
    store = open_chats(file, print)
    async with chat(store=store) as it:
        await it.sees("Volga.", "‹ 1/2 ›")
    store.close()


async def test_an_answer_stopped_before_its_first_word_gives_the_old_one_back() -> None:
    client = FakeClient([answer("Volga."), [reads(64, 9000), Wait("never")]])
    async with chat(client) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "r")
        await it.sees("reading 64/9,000")
        assert "Volga." not in it.shown
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("Volga.", "Stopped before a word had come: the answer is as it was.")
        assert "‹" not in it.shown
        assert all_messages(it) == ["river?", "Volga."]


async def test_words_that_were_not_drawn_yet_when_it_was_stopped_are_kept() -> None:
    client = FakeClient([answer("Volga."), [reads(1, 1), *says("Do"), Wait("never")]])
    async with chat(client) as it:
        await it.ask("river?")
        it.screen.animate_answers = lambda on: None  # type: ignore[method-assign]
        await it.pilot.press("alt+up", "r")
        await it.until(lambda: not it.idle and it.screen.answering.answer and it.screen.answering.answer.text == "Do")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("Do", "stopped", "‹ 2/2 ›")
        assert all_messages(it) == ["river?", "Volga.", "Do"]


async def test_a_crash_before_the_first_word_gives_the_old_one_back_and_says_so() -> None:
    client = FakeClient([answer("Volga."), [reads(1, 1), Crash()], answer("Don.")])
    async with chat(client) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await it.sees("Volga.", "The engine stopped (signal 9, killed; out of memory?).", "engine stopped")
        assert all_messages(it) == ["river?", "Volga."]
        await press(it, "alt+up", "r")
        await it.sees("Don.", "‹ 2/2 ›")


async def test_a_crash_in_the_middle_leaves_both() -> None:
    client = FakeClient([answer("Volga."), [reads(1, 1), *says("Do"), Wait("kill"), Crash()]])
    async with chat(client) as it:
        await it.ask("river?")
        await it.pilot.press("alt+up", "r")
        await it.sees("Do", "‹ 2/2 ›")
        client.go("kill")
        await it.until(lambda: it.idle)
        await it.sees("The engine stopped", "‹ 2/2 ›")
        assert all_messages(it) == ["river?", "Volga.", "Do"]


async def test_without_a_model_nothing_is_taken_away() -> None:
    store = memory_store()
    fill(store, 1)
    client = FakeClient(pair=pair())
    async with chat(client, load=None, store=store) as it:
        await it.sees("question 0")
        await it.pilot.press("alt+up", "r")
        await it.sees("ctrl+l shows those that are here")
        assert len(it.answers) == 1
    assert client.asked == []


@pytest.mark.parametrize(
    "defaults",
    [GenerateSettings(messages=(), seed=7), GenerateSettings(messages=(), sampling=Sampling(temperature=0))],
)
async def test_that_the_same_answer_comes_again_is_said(defaults: GenerateSettings) -> None:
    async with chat(FakeClient([answer("Volga."), answer("Volga.")]), defaults=defaults) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        assert it.notice.startswith("At temperature 0 or with a fixed seed the same answer comes again")


async def test_a_store_that_cannot_write_keeps_the_variants_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("a file where a folder should be")
    store = open_chats(folder / "chats.sqlite", lambda notice: None)
    async with chat(FakeClient([answer("Volga."), answer("Don.")]), store=store) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        await it.pilot.press("alt+up", "left")
        await it.sees("Volga.", "‹ 1/2 ›")
        assert "not saved" in it.lines[0]


async def test_what_another_slipstream_wrote_is_shown_first(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    theirs, ours = open_chats(file, print), open_chats(file, print)
    client = FakeClient([answer("Volga."), answer("Don.")])
    async with chat(client, store=ours) as it:
        await it.ask("river?")
        leaf = it.screen.chat.leaf
        theirs.append_user(it.screen.chat.conversation.id, "and a lake?", parent=leaf)
        await it.pilot.press("alt+up", "r")
        await it.sees(
            "Another Slipstream has written here meanwhile. This is how the chat is now: look, then press again.",
            "and a lake?",
        )
        assert len(client.asked) == 1
        await press(it, "alt+up", "up", "r")
        await it.sees("Don.", "‹ 2/2 ›")
    ours.close()
    theirs.close()


async def test_a_variant_that_another_slipstream_added_is_found(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    theirs, ours = open_chats(file, print), open_chats(file, print)
    async with chat(FakeClient([answer("Volga."), answer("Don.")]), store=ours) as it:
        await it.ask("river?")
        await press(it, "alt+up", "r")
        question = theirs.path(it.screen.chat.conversation.id)[0]
        added = theirs.start_answer(question.conversation, parent=question.id)
        theirs.finish_answer(added.id, ends("Ob."))
        await it.pilot.press("alt+up", "right")
        await it.sees("Ob.", "‹ 3/3 ›")
    ours.close()
    theirs.close()


# ------------------------------------------------------------------------------------------------------- long chats


class Counting:
    """A store that counts what is asked of it."""

    def __init__(self, store: ChatStore) -> None:
        self.store = store
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        self.calls.append(name)
        return getattr(self.store, name)


async def test_variants_of_a_long_chat_cost_one_question_at_its_opening() -> None:
    store = memory_store()
    fill(store, 500)
    conversation = store.last_conversation()
    assert conversation is not None
    path = store.path(conversation.id)
    for at in (1, 3, 991, 997):
        other = store.start_answer(conversation.id, parent=path[at - 1].id)
        store.finish_answer(other.id, ends("Another one."))
    store.switch_leaf(path[-1].id)
    counting = Counting(store)
    async with chat(store=counting) as it:  # type: ignore[arg-type]
        await it.sees("(499)", "‹ 1/2 ›")
        assert counting.calls.count("variants") == 1
        assert "siblings" not in counting.calls


async def test_a_branch_far_up_is_shown_where_it_begins() -> None:
    store = memory_store()
    fill(store, 100)
    conversation = store.last_conversation()
    assert conversation is not None
    path = store.path(conversation.id)
    other = store.start_answer(conversation.id, parent=path[160].id)
    store.finish_answer(other.id, ends("Another one."))
    store.switch_leaf(path[-1].id)
    async with chat(store=store) as it:
        await it.sees("(99)")
        while not any(view.turn.text.endswith("(80)") for view in it.answers):
            await it.pilot.press("pageup")
            await it.pilot.pause(0.05)
        view = next(view for view in it.answers if view.turn.text.endswith("(80)"))
        it.screen.select(view)
        await it.sees("(80)", "‹ 1/2 ›")
        await it.pilot.press("right")
        await it.sees("Another one.", "‹ 2/2 ›")
        assert len(it.screen.chat) == 162
        await it.pilot.press("left")
        await it.sees("(80)", "‹ 1/2 ›")
        await it.until(lambda: it.answers[-1].turn.text.endswith("(89)"), "a page of what is behind it")
        assert it.transcript.has_later
        assert isinstance(it.screen.selected, AnswerTurn)
        assert it.screen.selected.turn.text.endswith("(80)")
        assert not it.transcript.following
