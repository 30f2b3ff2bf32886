"""The text of an answer is often not just what its tokens spell; only one that was changed is told to be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.chats.proof import TEXT_CHANGED
from app.chats.store import ChatStore, open_chats
from app.plain import sheet
from app.replay.kept import kept_answer
from app.tui.screens.receipt import ReceiptScreen
from engine.protocol import TextDelta
from tests.app.tui.fake_client import Crash, FakeClient, Step, Wait, answer, ends, reads, receipt, says, starts
from tests.app.tui.harness import Chat, chat

STOPPED = [starts(), reads(3, 3), *says("Once upon"), Wait("never")]
STOP_STRING = [
    TextDelta(id=0, text="Once", token_ids=(11, 12), sources="tt", completed=(4, 0)),
    ends("Once", proof=receipt().model_copy(update={"text_lengths": (4, 0), "stop": ("###",)})),
]
BEGUN = [reads(1, 1), *says("Once upon </"), ends("Once upon </", reason="length")]
RETRACTED = ends("").model_copy(update={"retracted": 2})


@pytest.fixture
def store(tmp_path: Path) -> ChatStore:
    return open_chats(tmp_path / "chats.sqlite", print)


def assert_as_made(it: Chat, file: Path | None = None) -> None:
    """Every answer with figures, on screen and in the store as commands read it."""
    seen = [view.turn for view in it.answers if view.turn.message is not None and view.turn.figures is not None]
    assert seen
    for turn in seen:
        assert turn.doubts == ()
        assert turn.message is not None
        file = file or it.screen.store.file
        assert file is not None
        found = kept_answer(file, turn.message.id)
        assert found is None or found.doubts == ()


@pytest.mark.parametrize(
    "script",
    [
        answer("The Volga."),
        answer("<think>Long ones.\n</think>\n\nThe Volga."),
        answer("Caf\N{REPLACEMENT CHARACTER} \x00 \ud83d\ude00 and \ud83d alone"),
        answer(""),
        STOP_STRING,
        [starts(), reads(3, 3), *says("Once upon"), Crash()],
    ],
    ids=["plain", "thinking", "no characters", "empty", "a stop string", "a crash"],
)
async def test_as_it_ended_it_is_as_it_was_made(script: list[Step], store: ChatStore) -> None:
    async with chat(FakeClient([script]), store=store) as it:
        await it.ask("a story")
        assert_as_made(it)
    store.close()
    again = open_chats(store.file, print)
    async with chat(store=again) as it:
        await it.until(lambda: it.answers)
        assert_as_made(it)
    again.close()


@pytest.mark.parametrize("how", ["esc", "leave"])
async def test_stopped_it_is_as_it_was_made(how: str, store: ChatStore) -> None:
    async with chat(FakeClient([STOPPED]), store=store) as it:
        await it.send("a story")
        await it.sees("Once upon")
        if how == "esc":
            await it.pilot.press("escape")
            await it.until(lambda: it.idle)
            assert_as_made(it)
        else:
            it.screen.leave()
    store.close()
    again = open_chats(store.file, print)
    async with chat(store=again) as it:
        await it.until(lambda: it.answers)
        assert_as_made(it)
    again.close()


@pytest.mark.parametrize(
    "more",
    [
        answer("a time."),
        [starts(), reads(1, 1), RETRACTED],
        [starts(), reads(1, 1), *says("a ti"), Crash()],
        [starts(), reads(1, 1), *says("a ti"), Wait("killed")],
    ],
    ids=["to its end", "taken back", "a crash", "a kill"],
)
async def test_continued_it_is_as_it_was_made(more: list[Step], store: ChatStore, tmp_path: Path) -> None:
    async with chat(FakeClient([BEGUN, more]), store=store) as it:
        await it.ask("a story")
        await it.pilot.press("alt+up", "g")
        if more[-1] != Wait("killed"):
            await it.until(lambda: it.idle and len(it.screen.store.siblings(it.screen.chat.leaf)) == 2)
            assert_as_made(it)
        else:
            await it.sees("Once upon </a ti")
            leaf = it.screen.chat.leaf
            await it.until(lambda: (said := store.message(leaf)) and said.content.endswith("a ti"), "the checkpoint")
            assert it.answers[-1].turn.doubts == (), "while it is written"
        copy = tmp_path / "killed.sqlite"
        with closing(sqlite3.connect(str(store.file))) as db:
            db.execute("VACUUM INTO ?", (str(copy),))
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
    store.close()
    killed = open_chats(copy, print)
    async with chat(store=killed) as it:
        await it.until(lambda: it.answers)
        assert_as_made(it)
        if more[-1] == Wait("killed"):
            assert it.stored[-1] == ("assistant", "interrupted", "Once upon </a ti")
    killed.close()


async def test_a_text_that_was_changed_is_told_in_the_receipt(store: ChatStore) -> None:
    async with chat(FakeClient([answer("The Volga.")]), store=store) as it:
        await it.ask("Which river is longest?")
    with closing(sqlite3.connect(str(store.file))) as db, db:
        db.execute("UPDATE messages SET content = 'The Rhine.' WHERE role = 'assistant'")
    store.close()
    again = open_chats(store.file, print)
    async with chat(store=again, size=(120, 60)) as it:
        await it.sees("The Rhine.")
        await it.pilot.press("alt+up", "i")
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await it.sees(
            "its seal",
            "The text of this answer was changed after it was",
            "what the chat shows is not what its tokens say",
        )
        await it.pilot.press("escape")
        assert it.answers[-1].turn.doubts == (TEXT_CHANGED,)
        assert sheet.text_of(it.answers[-1].turn).splitlines()[-3:-1] == ["Its seal:", TEXT_CHANGED]
    again.close()
