"""Two Slipstreams on one store: chats that another one has open, or is writing in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.tui.screens import opening
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, reads, says
from tests.app.tui.harness import chat

Written = tuple[ChatStore, ChatStore, int]
"""Their store, ours, and the answer that they are making in the chat that is ours, too."""


@pytest.fixture
def being_written(tmp_path: Path) -> Iterator[Written]:
    file = tmp_path / "chats.sqlite"
    theirs, ours = open_chats(file, print), open_chats(file, print)
    conversation = theirs.create_conversation()
    question = theirs.append_user(conversation.id, "tell me", parent=None)
    kept = theirs.start_answer(conversation.id, parent=question.id)
    other = theirs.create_conversation()  # they have gone on to another chat
    assert other.id != conversation.id
    ours.mark_open(conversation.id)
    yield theirs, ours, kept.id
    ours.close()
    theirs.close()


async def test_a_chat_that_is_open_elsewhere_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    first, second = open_chats(file, print), open_chats(file, print)
    async with chat(FakeClient([answer("Volga.")]), store=first) as one:
        await one.ask("river?")
        async with chat(FakeClient([answer("Etna.")]), store=second) as two:
            await two.sees("Your last chat is open in another Slipstream; this is a new one.")
            await two.ask("volcano?")
            assert two.questions == ["volcano?"]
        assert one.questions == ["river?"]
    second.close()
    third = open_chats(file, print)  # the first is still open, the second is gone
    async with chat(store=third) as it:
        await it.sees("volcano?", "Etna.")
        assert "another Slipstream" not in it.shown
    first.close()
    third.close()


async def test_what_another_instance_wrote_is_seen_before_a_message_is_sent(being_written: Written) -> None:
    theirs, ours, kept = being_written
    client = FakeClient([answer("More.")])
    async with chat(client, store=ours) as it:
        await it.sees("tell me", "another Slipstream is writing this")
        theirs.finish_answer(kept, ends("All of it."))
        await it.ask("and then?")
        await it.sees("All of it.", "More.")
        assert "another Slipstream is writing" not in it.shown
    assert [m.content for m in client.asked[0].messages] == ["tell me", "All of it.", "and then?"]


async def test_an_answer_that_ended_elsewhere_shows_by_itself(being_written: Written) -> None:
    theirs, ours, kept = being_written
    async with chat(store=ours) as it:
        await it.sees("another Slipstream is writing this")
        theirs.finish_answer(kept, ends("All of it."))
        await it.sees("All of it.")


async def test_an_answer_that_ended_elsewhere_after_a_message_of_ours_shows_by_itself(
    being_written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LOOK_AGAIN_SECONDS", 0.01)
    theirs, ours, kept = being_written
    client = FakeClient([[reads(1, 1), *says("Mine"), Wait("end"), ends("Mine.")]])
    async with chat(client, store=ours) as it:
        await it.sees("another Slipstream is writing this")
        await it.send("and this?")
        await it.sees("Mine")
        looked: list[bool] = []
        look = it.screen._look_again
        monkeypatch.setattr(it.screen, "_look_again", lambda: (looked.append(True), look()))
        await it.until(lambda: len(looked) > 1, "looks that find our own answer running")
        client.go("end")
        await it.until(lambda: it.idle)
        assert "another Slipstream is writing this" in it.shown
        theirs.finish_answer(kept, ends("All of it."))
        await it.sees("All of it.", "Mine.")
        assert "another Slipstream is writing this" not in it.shown
