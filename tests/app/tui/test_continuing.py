"""An answer that was cut short goes on, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import open_chats
from engine.protocol import AnswerSoFar, ErrorCode, Receipt
from tests.app.tui.fake_client import (
    Crash,
    FakeClient,
    Step,
    Wait,
    answer,
    counts,
    ends,
    failure,
    model,
    reads,
    receipt,
    says,
    stats,
)
from tests.app.tui.harness import Chat, chat
from tests.app.tui.turned import all_messages, press, said

STORY = "Once upon a "


def begun(text: str = STORY, proof: Receipt | None = None, ids: tuple[int, ...] = (11, 12)) -> list[Step]:
    """An answer that was cut off by the token limit."""
    end = ends(text, reason="length", proof=proof).model_copy(update={"token_ids": ids, "sources": "t" * len(ids)})
    return [reads(1, 1), *says(text), end]


def continued(behind: int = 2) -> Receipt:
    """The receipt of an answer whose first tokens are 11 and 12."""
    ids = (1, 2, 3, 11, 12, 13)[: 3 + behind]
    return receipt().model_copy(update={"prompt_ids": ids, "continued_from": behind})


async def test_an_answer_goes_on_behind_its_tokens_and_the_one_before_stays() -> None:
    client = FakeClient([begun(), answer("time.", proof=continued())])
    async with chat(client, size=(120, 34)) as it:
        await it.ask("a story")
        await it.sees("cut off: the end of the context was reached")
        await it.pilot.press("alt+up")
        await it.until(lambda: "g go on" in it.footer)
        await press(it, "g")
        await it.sees("Once upon a time.", "‹ 2/2 ›")
        await it.sees("continued behind 2 tokens; figures are for what came after")
        assert "cut off" not in it.shown
        asked = client.asked[1]
        assert asked.answer_so_far == AnswerSoFar(token_ids=(11, 12), text=STORY)
        assert asked.seed == 7, "as if it had never been stopped"
        assert said(client) == ["a story"]
        assert it.stored[-1] == ("assistant", "complete", "Once upon a time.")
        assert all_messages(it) == ["a story", STORY, "Once upon a time."]
        await it.pilot.press("alt+up", "left")
        await it.sees("Once upon a", "cut off", "‹ 1/2 ›")
        assert "time." not in it.shown


async def test_the_old_text_is_there_while_the_new_one_comes() -> None:
    client = FakeClient([begun(), [reads(1, 1), *says("ti"), counts(), Wait("more"), *says("me."), ends("time.")]])
    async with chat(client) as it:
        await it.ask("a story")
        await it.pilot.press("alt+up", "g")
        await it.sees("Once upon a ti", "writing…", "‹ 2/2 ›")
        client.go("more")
        await it.until(lambda: it.idle)
        await it.sees("Once upon a time.")


async def test_it_goes_on_once_more_behind_all_its_tokens() -> None:
    second = [reads(1, 1), *says("ti"), ends("ti", reason="length", proof=continued())]
    client = FakeClient([begun(), second, answer("me.")])
    async with chat(client) as it:
        await it.ask("a story")
        await press(it, "alt+up", "g")
        await press(it, "alt+up", "g")
        await it.sees("Once upon a time.", "‹ 3/3 ›")
    so_far = client.asked[2].answer_so_far
    assert so_far == AnswerSoFar(token_ids=(11, 12, 1, 2), text="Once upon a ti")


async def test_a_stopped_answer_goes_on() -> None:
    client = FakeClient([[reads(1, 1), *says(STORY), counts(), Wait("never")], answer("time.")])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once upon a")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await press(it, "alt+up", "g")
        await it.sees("Once upon a time.")
        assert all_messages(it) == ["a story", STORY, "Once upon a time."]


async def test_behind_a_crash_it_goes_on_with_the_text_that_was_kept() -> None:
    client = FakeClient([[reads(1, 1), *says(STORY), Wait("kill"), Crash()], answer("time.")])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once upon a")
        client.go("kill")
        await it.until(lambda: it.idle)
        await press(it, "alt+up", "g")
        await it.sees("Once upon a time.")
        assert client.asked[1].answer_so_far == AnswerSoFar(text=STORY)
        assert client.asked[1].seed is None


async def test_another_model_goes_on_behind_the_text() -> None:
    theirs = receipt().model_copy(
        update={"target": model("/m/other.gguf").model_copy(update={"fingerprint": "e" * 64})}
    )
    client = FakeClient([begun(proof=theirs), answer("time.")])
    async with chat(client) as it:
        await it.ask("a story")
        await press(it, "alt+up", "g")
        assert client.asked[1].answer_so_far == AnswerSoFar(text=STORY)


async def test_what_the_end_takes_back_is_neither_shown_nor_kept() -> None:
    end = ends("", figures=stats(1)).model_copy(update={"retracted": 2})
    async with chat(FakeClient([begun("Once upon a</"), [reads(1, 1), end]])) as it:
        await it.ask("a story")
        await press(it, "alt+up", "g")
        assert it.stored[-1] == ("assistant", "complete", "Once upon a")
        assert it.answers[-1].turn.text == "Once upon a"


async def test_code_that_was_cut_off_in_the_middle_goes_on_in_its_block() -> None:
    client = FakeClient([begun("Look:\n\n```python\nfirst = 1\nsec"), answer("ond = 2\n```\nDone.")])
    async with chat(client) as it:
        await it.ask("code")
        await press(it, "alt+up", "g")
        await it.sees("second = 2", "Done.")
        assert it.stored[-1][2] == "Look:\n\n```python\nfirst = 1\nsecond = 2\n```\nDone."


async def test_a_complete_answer_does_not_go_on() -> None:
    client = FakeClient([answer("The end.")])
    async with chat(client) as it:
        await it.ask("a story")
        await it.screen.do("go_on")
        assert it.notice == "This answer is complete: there is nothing to go on with. r asks for another one."
    assert len(client.asked) == 1


async def test_an_answer_without_a_word_does_not_go_on() -> None:
    client = FakeClient([[reads(64, 9000), Wait("never")]])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("reading 64/9,000")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.screen.do("go_on")
        assert it.notice == "Nothing of this answer has arrived: r asks for it again."


async def test_stopped_before_anything_new_it_is_as_it_was() -> None:
    client = FakeClient([begun(), [reads(64, 9000), Wait("never")]])
    async with chat(client) as it:
        await it.ask("a story")
        await it.pilot.press("alt+up", "g")
        await it.sees("reading 64/9,000", "Once upon a")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("Stopped before a word had come: the answer is as it was.", "cut off")
        assert all_messages(it) == ["a story", STORY]


async def test_what_the_engine_refuses_is_said_and_changes_nothing() -> None:
    words = "The answer so far names token 99,999, but this model has 49,152 tokens: another model began it."
    client = FakeClient([begun(), [failure(ErrorCode.BAD_SETTINGS, words)]])
    async with chat(client) as it:
        await it.ask("a story")
        await press(it, "alt+up", "g")
        await it.sees(words, "Once upon a", "cut off")
        assert all_messages(it) == ["a story", STORY]


async def test_a_kill_leaves_the_old_answer_and_all_that_had_come(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = open_chats(file, print)
    client = FakeClient([begun(), [reads(1, 1), *says("ti"), Wait("never")]])
    async with chat(client, store=store) as it:
        await it.ask("a story")
        await it.pilot.press("alt+up", "g")
        await it.sees("Once upon a ti")
        other = open_chats(file, print)  # what a process that starts now would find
        last = it.screen.chat.leaf
        assert other.siblings(last)[0].content == STORY
        begins = other.siblings(last)[1]
        assert begins.state == "writing"
        assert begins.content.startswith(STORY)
        await it.until(lambda: other.siblings(last)[1].content == "Once upon a ti", "the checkpoint")
        other.close()
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
    store.close()


async def test_quitting_keeps_what_had_come() -> None:
    client = FakeClient([begun(), [reads(1, 1), *says("ti"), Wait("never")]])
    async with chat(client) as it:
        await it.ask("a story")
        await it.pilot.press("alt+up", "g")
        await it.sees("Once upon a ti")
        it.screen.leave()
        assert it.stored[-1] == ("assistant", "cancelled", "Once upon a ti")
        assert all_messages(it) == ["a story", STORY, "Once upon a ti"]


@pytest.mark.parametrize("key", ["g", "r"])
async def test_an_interrupted_answer_offers_both_ways_on(key: str, tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = open_chats(file, print)
    conversation = store.create_conversation()
    question = store.append_user(conversation.id, "a story", parent=None)
    kept = store.start_answer(conversation.id, parent=question.id)
    store.checkpoint(kept.id, STORY)
    store.close()
    store = open_chats(file, print)
    client = FakeClient([answer("time.")])
    async with chat(client, store=store, size=(120, 34)) as it:
        await it.sees("interrupted: Slipstream ended before the answer did.")
        await it.pilot.press("alt+up")
        await it.until(lambda: "r again" in it.footer and "g go on" in it.footer)
        await press(it, key)
        await it.sees("Once upon a time." if key == "g" else "time.")
        assert_kept(it)
    store.close()


def assert_kept(it: Chat) -> None:
    assert all_messages(it)[1] == STORY
