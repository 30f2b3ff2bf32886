"""Unsent text outlives the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from app.chats.store import ChatStore, open_chats
from app.tui import drafts
from engine.protocol import ErrorCode
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, failure, reads, says
from tests.app.tui.harness import chat, memory_store

LARGE = "\n".join(f"{n:06} some more words of a large text" for n in range(2_000))


def opened(file: Path) -> ChatStore:
    return open_chats(file, lambda notice: None)


def unsent(store: ChatStore) -> str:
    conversation = store.last_conversation()
    assert conversation is not None
    return store.unsent(conversation.id).text


async def test_it_is_there_after_a_quit(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = opened(file)
    async with chat(store=store) as it:
        await it.pilot.press(*"half a ", "ctrl+j")
        it.composer.post_message(events.Paste(LARGE))
        await it.sees("pasted 77,999 characters")
        await it.pilot.press("ctrl+q")
    store.close()
    store = opened(file)
    async with chat(store=store) as it:
        await it.sees("half a", "[pasted 77,999 characters, 2,000 lines #1]")
        assert it.composer.text == f"half a \n{LARGE}"
        await it.pilot.press("!")
        assert it.composer.text == f"half a \n{LARGE}!"
    store.close()


async def test_it_is_written_while_typing_without_a_quit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "KEEP_SECONDS", 0.01)
    store = memory_store()
    async with chat(store=store) as it:
        await it.pilot.press(*"typed")
        await it.until(lambda: unsent(store) == "typed")
        await it.pilot.press("enter")
        await it.until(lambda: it.answers and it.idle)
        assert unsent(store) == ""


async def test_text_that_waits_for_an_answer_to_end_is_kept_with_what_is_typed_behind_it() -> None:
    client = FakeClient([[reads(1, 1), *says("Slow"), Wait("end"), ends("Slow")], answer("ok")])
    store = memory_store()
    async with chat(client, store=store) as it:
        await it.send("go")
        await it.sees("Slow")

        async def never() -> None:
            pass

        client.cancel = never  # type: ignore[method-assign]
        await it.pilot.press("escape")
        await it.send("waits")
        await it.sees("waits")
        await it.pilot.press(*"more")
        it.screen.keep_unsent()
        assert unsent(store) == "waits\nmore"
        client.go("end")
        await it.until(lambda: it.questions == ["go", "waits"] and it.idle)
        assert it.composer.text == "more"
        assert unsent(store) == "more"


async def test_a_refused_message_is_unsent_again() -> None:
    client = FakeClient([[failure(ErrorCode.PROMPT_TOO_LARGE, "Too long.")]])
    store = memory_store()
    async with chat(client, store=store) as it:
        await it.send("//help me with a long text")
        await it.sees("Too long.")
        assert it.composer.text == "//help me with a long text"
        assert unsent(store) == "//help me with a long text"


async def test_every_chat_has_its_own() -> None:
    store = memory_store()
    async with chat(FakeClient([answer("ok")] * 2), store=store) as it:
        await it.ask("first chat")
        first = it.screen.chat.conversation.id
        await it.pilot.press(*"for the first")
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.conversation.id != first)
        assert it.composer.text == ""
        await it.sees("What you had typed stays with the other chat.")
        assert store.unsent(first).text == "for the first"
        await it.ask("second chat")
        assert store.unsent(first).text == "for the first"


async def test_while_an_earlier_message_is_looked_at_the_unsent_one_is_kept() -> None:
    store = memory_store()
    async with chat(FakeClient([answer("ok")]), store=store) as it:
        await it.ask("said")
        await it.pilot.press(*"unsent", "up")
        assert it.composer.text == "said"
        it.screen.keep_unsent()
        assert unsent(store) == "unsent"
        await it.pilot.press("!")
        it.screen.keep_unsent()
        assert unsent(store) == "unsent\nsaid!"
