"""What is kept, and what is there again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from app.chats.store import ChatStore, open_chats
from engine.protocol import Finished
from engine.stats import Stats
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, reads, receipt, says, stats
from tests.app.tui.harness import chat, memory_store
from tests.fixtures.pace import limit


def fill(store: ChatStore, turns: int, text: str = "An answer with **some** words.") -> None:
    conversation = store.create_conversation()
    parent = None
    for n in range(turns):
        question = store.append_user(conversation.id, f"question {n}", parent=parent)
        kept = store.start_answer(conversation.id, parent=question.id)
        store.finish_answer(
            kept.id,
            Finished(
                id=0,
                finish_reason="stop",
                text=f"{text} ({n})",
                token_ids=(),
                sources="",
                stats=stats(),
                receipt=receipt(),
            ),
        )
        parent = kept.id


async def test_the_message_is_kept_before_the_engine_hears_of_it() -> None:
    seen: list[tuple[str, str]] = []
    store = memory_store()

    class Looking(FakeClient):
        async def generate(self, settings):  # type: ignore[no-untyped-def, override]
            conversation = store.last_conversation()
            assert conversation is not None
            seen.extend((m.role, m.content) for m in store.path(conversation.id))
            async for event in super().generate(settings):
                yield event

    async with chat(Looking([answer("ok")]), store=store) as it:
        await it.ask("keep me")
    assert seen == [("user", "keep me")]


async def test_a_partial_answer_is_kept_within_a_second() -> None:
    client = FakeClient([[reads(1, 1), *says("So far"), Wait("end"), ends("So far so good")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("So far")
        begun = time.monotonic()
        await it.until(lambda: it.stored[-1] == ("assistant", "writing", "So far"))
        assert time.monotonic() - begun < limit(2.5)
        client.go("end")
        await it.until(lambda: it.idle)
        assert it.stored[-1] == ("assistant", "complete", "So far so good")


async def test_the_last_chat_opens_again_with_its_receipts(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = open_chats(file, print)
    async with chat(FakeClient([answer("Volga.")]), store=store) as it:
        await it.ask("river?")
    store.close()
    store = open_chats(file, print)
    async with chat(store=store) as it:
        await it.sees("river?", "Volga.", "38.7 tok/s", "(18/28)", "ctx 78/8k")
    store.close()


async def test_an_answer_cut_by_a_kill_is_shown_as_interrupted() -> None:
    store = memory_store()
    conversation = store.create_conversation()
    question = store.append_user(conversation.id, "tell me", parent=None)
    kept = store.start_answer(conversation.id, parent=question.id)
    store.checkpoint(kept.id, "The beginning of")

    class Reopened:
        """The store as the next process sees it."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def path(self, conversation_id: int, **more: int) -> tuple[object, ...]:
            from dataclasses import replace

            return tuple(
                replace(message, state="interrupted") if message.state == "writing" else message
                for message in store.path(conversation_id, **more)
            )

    async with chat(FakeClient([answer("More.")]), store=Reopened()) as it:  # type: ignore[arg-type]
        await it.sees(
            "The beginning of", "interrupted: Slipstream ended before the answer did. What had arrived is kept."
        )


async def test_new_chat_is_empty_and_the_old_one_is_kept() -> None:
    client = FakeClient([answer("One."), answer("Two.")])
    async with chat(client, size=(120, 34)) as it:
        await it.ask("first")
        assert "ctrl+n new" in it.footer
        await it.pilot.press("ctrl+n")
        await it.sees("fast answers from a model on your own machine")
        assert "ctrl+n new" not in it.footer
        await it.ask("second")
        assert it.questions == ["second"]
        assert len(it.screen.store.conversations()) == 2
    assert [m.content for m in client.asked[1].messages] == ["second"]


async def test_new_chat_is_not_offered_while_an_answer_runs() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        assert "ctrl+n" not in it.footer
        await it.pilot.press("ctrl+n")
        await it.sees("An answer is being written here; stop it (esc in the chat) or wait for its end first.")
        assert it.questions == ["go"]
        client.go("end")
        await it.until(lambda: it.idle)


async def test_a_long_chat_opens_quickly_at_its_end_and_shows_more_above() -> None:
    store = memory_store()
    fill(store, 500)
    begun = time.monotonic()
    async with chat(store=store) as it:
        await it.sees("question 499", "(499)")
        assert time.monotonic() - begun < limit(4), "one second on a free machine"
        await it.pilot.press("pageup", "pageup", "pageup")
        await it.until(lambda: "question 480" in it.questions)
        await it.pilot.press("ctrl+home")
        await it.sees("  question 0 ", "(0)")
        await it.until(lambda: it.transcript.scroll_y == 0)
        await it.pilot.press("end")
        await it.sees("question 499")


async def test_a_very_long_answer_does_not_freeze_the_opening() -> None:
    store = memory_store()
    fill(store, 1, "# Heading\n\n" + "Some *words* in a paragraph.\n\n" * 10_000)
    async with chat(store=store) as it:
        begun = time.monotonic()
        await it.pilot.press("x")
        await it.until(lambda: it.composer.text == "x")
        assert time.monotonic() - begun < limit(2)
        await it.sees("(0)")


async def test_reading_back_is_not_disturbed_by_new_text() -> None:
    text = "\n\n".join(f"paragraph {n}" for n in range(60))
    more = "\n\n".join(f"more {n}" for n in range(40))
    client = FakeClient(
        [answer(text), [reads(1, 1), *says("start "), Wait("more"), *says(more), Wait("end"), ends(more)]]
    )
    async with chat(client) as it:
        await it.ask("long")
        await it.send("again")
        await it.sees("start")
        await it.pilot.press("pageup")
        await it.until(lambda: not it.transcript.following)
        at, top = it.transcript.scroll_y, it.lines[3]
        client.go("more")
        await it.until(lambda: it.transcript.max_scroll_y > at + 60)
        await asyncio.sleep(0.2)
        assert it.transcript.scroll_y == at
        assert it.lines[3] == top
        await it.pilot.press("end")
        await it.until(lambda: it.transcript.following)
        await it.sees("more 39")
        client.go("end")
        await it.until(lambda: it.idle)
        await it.sees("tok/s")


async def test_scrolling_down_to_the_end_follows_again() -> None:
    async with chat(FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))])) as it:
        await it.ask("long")
        await it.pilot.press("pageup")
        await it.until(lambda: not it.transcript.following)
        await it.pilot.press("pagedown", "pagedown")
        await it.until(lambda: it.transcript.following)


async def test_no_timer_runs_while_nothing_happens() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("go")
        frames = it.screen.frames.timer
        assert frames is not None
        assert not frames._active.is_set()


def test_figures_of_nothing_are_not_shown_as_zero() -> None:
    assert Stats().acceptance is None


async def test_the_way_to_the_latest_text_is_named_by_the_key_that_works() -> None:
    async with chat(FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))])) as it:
        await it.ask("long")
        await it.pilot.press("pageup")
        await it.sees("↓ end: back to the latest text")
        await it.pilot.press("h", "i", "home")
        await it.sees("↓ ctrl+end: back to the latest text")
        await it.pilot.press("ctrl+end")
        await it.until(lambda: it.transcript.following)
