"""What is asked for again after the question about a full context: answers, edits, a larger context."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import open_chats
from app.last_choice import Memory
from app.tui.widgets.header import Header
from engine.protocol import ErrorCode, Loaded, Loading
from tests.app.tui.fake_client import (
    MODEL_PATH,
    FakeClient,
    Wait,
    answer,
    ends,
    failure,
    pair,
    reads,
    receipt,
    says,
)
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import chat
from tests.app.tui.overflow import (
    DROP,
    DROPPING,
    HEADING,
    asked,
    choose,
    client,
    question,
    too_large,
    unsent,
)

# --------------------------------------------------------------------------------- answers made again, and edits


async def test_an_answer_that_is_made_again_is_asked_about_too() -> None:
    engine = client(answer("One."), too_large(), answer("Two."))
    async with chat(engine) as it:
        await it.ask("small")
        await it.pilot.press(*"unsent", "alt+up", "r")
        await question(it)
        await it.sees("One.", "nothing is sent; the answer is as it was")
        await choose(it, "home")
        await it.sees("Two.", "‹ 2/2 ›")
        assert it.composer.text == "unsent"
    assert [settings.overflow for settings in engine.asked] == ["stop", "stop", "drop-oldest"]


async def test_an_answer_that_goes_on_goes_on_with_a_larger_context() -> None:
    full = receipt(notes=("the context of 2,048 tokens is full",))
    begun = [reads(1, 1), *says("Once upon"), ends("Once upon", reason="length", proof=full)]
    engine = client(begun, too_large(), answer(" a time."))
    async with chat(engine) as it:
        await it.ask("a story")
        await it.sees("/context makes room, then /continue goes on.")
        await it.pilot.press("alt+up", "g")
        await question(it)
        await choose(it, "up")
        await it.until(lambda: it.idle and len(engine.asked) == 3)
        await it.sees("Once upon a time.", "‹ 2/2 ›")
    assert engine.loaded[-1].context == 4096
    assert engine.asked[2].answer_so_far == engine.asked[1].answer_so_far
    assert engine.asked[2].answer_so_far is not None


async def test_stopping_leaves_the_answer_that_was_to_be_made_again() -> None:
    async with chat(client(answer("One."), too_large())) as it:
        await it.ask("small")
        await it.pilot.press("alt+up", "r")
        await question(it)
        await it.pilot.press("escape")
        await it.until(lambda: it.notice == f"Nothing was sent: {HEADING}; the answer is as it was.")
        assert [text for _, _, text in it.stored] == ["small", "One."]


async def test_an_edit_is_sent_as_a_branch_after_the_question(tmp_path: Path) -> None:
    engine = client(answer("One."), too_large(), answer("Two."))
    async with chat(engine, store=open_chats(tmp_path / "chats.sqlite", lambda notice: None)) as it:
        await it.ask("first")
        await it.pilot.press(*"waits", "alt+up", "up", "e", *"!!", "enter")
        await question(it)
        await it.sees("editing: enter sends it as a new branch", "One.")
        assert it.composer.text == "first!!"
        assert unsent(it) == "first!!\nwaits", "neither is lost by a kill"
        await choose(it, "home")
        await it.sees("Two.", "‹ 2/2 ›")
        assert it.composer.text == "waits"
        assert unsent(it) == "waits"
    assert [message.content for message in engine.asked[2].messages] == ["first!!"]


# ------------------------------------------------------------------------------------------------------ loading


async def test_a_larger_context_that_cannot_be_loaded_is_said_and_asked_about_again() -> None:
    words = "A context of 4,096 tokens for m.gguf needs about 1.1 GB of memory, and 500 MB are free."
    small = Loaded(id=0, pair=pair(context=2048))
    loads = [[small], [failure(ErrorCode.LOAD_FAILED, words)], [small]]
    engine = FakeClient([answer("Fine."), too_large(), too_large()], loads=loads)
    async with chat(engine, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        await choose(it, "up")
        await it.until(lambda: len(engine.asked) == 3)
        await question(it)
        await it.sees(words, "SmolLM2-135M answers as before.", HEADING)
        assert it.composer.text == "a very long text"
        assert unsent(it) == "a very long text"
        assert [text for _, _, text in it.stored] == ["small", "Fine."]
        assert it.screen.query_one(Header).state.pair == small.pair


async def test_esc_while_it_is_loaded_keeps_the_message_in_the_chat() -> None:
    loading = [Loading(id=0, what="target", fraction=0.4), Wait("loaded"), Loaded(id=0, pair=pair(context=4096))]
    engine = FakeClient([answer("Fine."), too_large(), answer("Here.")])
    engine.loads = [[Loaded(id=0, pair=pair(context=2048))], loading]
    async with chat(engine, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        await choose(it, "up")
        await it.sees("loading SmolLM2-135M Q4_1  40 %", "a very long text")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("stopped before the answer began")
        engine.go("loaded")
        await it.sees("/4k")
        assert len(engine.asked) == 2
        await it.pilot.press("alt+up", "r")
        await it.sees("Here.")
    assert [message.content for message in engine.asked[2].messages][-1] == "a very long text"


async def test_the_larger_context_is_remembered_for_the_pair_that_was_chosen(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "last-choice.json")
    for chosen, context in (("", None), (MODEL_PATH, 4096)):
        if chosen:
            memory.keep_pair(chosen, "", None)
        async with chat(client(too_large(), answer("Here.")), shelf=FakeShelf(), memory=memory) as it:
            await asked(it)
            await choose(it, "up")
            await it.until(lambda: it.idle and len(it.answers) == 1)
        assert (memory.read().target, memory.read().context) == (chosen, context)


async def test_a_second_attempt_that_is_refused_for_another_reason_says_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("bread\n")
    engine = client(too_large())
    async with chat(engine) as it:
        await it.pilot.press(*"sum up @notes.txt please", "enter")
        await question(it)
        (tmp_path / "notes.txt").write_bytes(b"\xff\x00\xff")
        await choose(it, "home")
        await it.until(lambda: it.notice.endswith(DROPPING))
        assert it.notice.startswith(
            "notes.txt is not a text in UTF-8; only text files can be attached. Nothing was sent."
        )
        assert it.composer.text == "sum up @notes.txt please"
        assert len(engine.asked) == 1


async def test_a_refusal_says_the_same_after_a_drop_that_did_not_help() -> None:
    engine = client(answer("Fine."), too_large(), too_large(dropped=0, left=2300))
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it)
        await choose(it, "home")
        await it.until(lambda: len(engine.asked) == 3)
        await question(it)
        await it.sees(f"✕ {DROP}", "2,300 tokens are left even without them")
        assert it.composer.text == "a very long text"
