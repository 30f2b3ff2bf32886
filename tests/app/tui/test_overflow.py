"""A conversation that does not fit the context: the user is asked, every answer does what it says, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import open_chats
from app.library import window
from app.tui.widgets.attached_row import AttachedRow
from app.tui.widgets.overflow_picker import OverflowPicker
from app.tui.widgets.turns import UserTurn
from engine.protocol import ErrorCode, Loaded
from tests.app.tui.fake_client import (
    LOAD,
    FakeClient,
    answer,
    failure,
    model,
    pair,
    receipt,
    stats,
)
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.overflow import (
    DROP,
    DROPPING,
    HEADING,
    LARGER,
    NOTHING_SENT,
    asked,
    choose,
    client,
    question,
    too_large,
    unsent,
)
from tests.fixtures.headers import write_model

# --------------------------------------------------------------------------------------------------- the question


async def test_the_user_is_asked_and_the_message_is_safe_meanwhile() -> None:
    store = memory_store()
    async with chat(client(answer("Fine."), too_large()), store=store, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        await it.sees(
            HEADING,
            f"○ {DROP}",
            "leaves out 1 turn (1,600 tokens), from now on; they stay in the chat",
            f"○ {LARGER}",
            "4,096 tokens",
            "○ stop",
            "nothing is sent; your message is in the composer",
            "enter choose",
            "esc stop",
        )
        assert it.composer.text == "a very long text"
        assert it.questions == ["small"]
        assert [role for role, _, _ in it.stored] == ["user", "assistant"], "it is not in the chat"
        assert unsent(it) == "a very long text", "a kill does not lose it"
        assert it.notice == ""


async def test_a_second_enter_does_no_harm() -> None:
    engine = client(answer("Fine."), too_large())
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it)
        await it.pilot.press("enter")
        await it.until(lambda: it.notice == NOTHING_SENT)
        assert it.composer.text == "a very long text"
        assert it.composer.has_focus
        assert len(engine.asked) == 2
        assert it.screen.chat.conversation.settings == {}


@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_stop_leaves_everything_as_it_was(key: str) -> None:
    async with chat(client(answer("Fine."), too_large(), answer("Short."))) as it:
        await it.ask("small")
        await asked(it)
        await it.pilot.press(key)
        await it.until(lambda: it.notice == NOTHING_SENT)
        assert not it.screen.query_one(OverflowPicker).display
        assert (it.composer.text, it.composer.has_focus) == ("a very long text", True)
        await it.ask("short")
        assert [text for _, _, text in it.stored] == ["small", "Fine.", "short", "Short."]


async def test_the_oldest_turns_are_left_out_from_now_on() -> None:
    note = "the 2 oldest messages were left out: the conversation is 2,500 tokens long, the context holds 2,048"
    proof = receipt(notes=(note,)).model_copy(update={"dropped_messages": 2})
    engine = client(answer("Fine."), too_large(), answer("Here.", proof=proof), answer("Again."))
    async with chat(engine, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        await choose(it, "home")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        await it.sees("Here.", note, "overflow drop-oldest")
        assert it.notice == DROPPING
        assert it.composer.text == ""
        assert it.questions == ["small", "a very long text"], "what is left out stays in the chat"
        assert it.screen.chat.conversation.settings == {"overflow": "drop-oldest"}
        await it.ask("more")
    assert [settings.overflow for settings in engine.asked] == ["stop", "stop", "drop-oldest", "drop-oldest"]
    assert engine.asked[2].messages == engine.asked[1].messages, "all of it: the engine leaves out"


async def test_a_larger_context_is_loaded_and_the_message_is_answered() -> None:
    engine = client(answer("Fine."), too_large(), answer("Here."))
    async with chat(engine, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        await choose(it, "up")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        await it.sees("Here.", "/4k")
        assert it.notice == "The context becomes 4,096 tokens: the model is loaded anew, the chat stays."
        assert it.composer.text == ""
        assert unsent(it) == ""
        assert [text for _, _, text in it.stored] == ["small", "Fine.", "a very long text", "Here."]
    assert engine.loaded == [LOAD, LOAD.model_copy(update={"context": 4096})]
    assert [settings.overflow for settings in engine.asked] == ["stop"] * 3


async def test_the_mouse_chooses_too() -> None:
    engine = client(answer("Fine."), too_large(), answer("Here."))
    async with chat(engine, size=(120, 34)) as it:
        await it.ask("small")
        await asked(it)
        row = next(at for at, line in enumerate(it.lines) if DROP in line)
        await it.pilot.click(offset=(10, row))
        await it.until(lambda: it.idle and len(it.answers) == 2)
        assert engine.asked[2].overflow == "drop-oldest"


# -------------------------------------------------------------------------------------------- what is not possible


async def test_what_is_not_possible_says_why_and_cannot_be_chosen() -> None:
    engine = client(too_large(dropped=0, left=2500), context=8192)
    async with chat(engine, size=(80, 24)) as it:
        await asked(it)
        await it.sees(
            f"✕ {DROP}  there is no older turn to leave out",
            f"✕ {LARGER}         the model was trained for 8,192 tokens",
        )
        await choose(it, "up", "up", "home")
        await it.until(lambda: it.notice == NOTHING_SENT)
        assert len(engine.asked) == 1


async def test_a_last_turn_too_long_by_itself_says_so() -> None:
    async with chat(client(answer("Fine."), too_large(dropped=0, left=2300))) as it:
        await it.ask("small")
        await asked(it)
        await it.sees(f"✕ {DROP}", "2,300 tokens are left even without them", f"○ {LARGER}")


async def test_memory_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_model(tmp_path / "m.gguf", layers=32, width=4096, heads=32, kv_heads=32)
    monkeypatch.setattr(window, "available_memory", lambda: 500_000_000)
    small = pair(context=2048).model_copy(update={"target": model(str(file))})
    engine = FakeClient([too_large()], loads=[[Loaded(id=0, pair=small)]])
    async with chat(engine) as it:
        await asked(it)
        await it.sees(f"✕ {LARGER}", "3,328 tokens need 273 MB more than is free")


async def test_memory_that_is_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_model(tmp_path / "m.gguf", layers=32, width=4096, heads=32, kv_heads=32)
    monkeypatch.setattr(window, "available_memory", lambda: 7_500_000_000)
    small = pair(context=2048).model_copy(update={"target": model(str(file))})
    engine = FakeClient([too_large()], loads=[[Loaded(id=0, pair=small)]])
    async with chat(engine, size=(120, 34)) as it:
        await asked(it)
        await it.sees(f"○ {LARGER}", "4,096 tokens take 1.1 GB more; 7.5 GB are free, and the model is loaded anew")


async def test_a_refusal_without_figures_is_only_said() -> None:
    words = "The message with its conversation takes 20 MiB, and the engine takes at most 16."
    async with chat(client([failure(ErrorCode.PROMPT_TOO_LARGE, words)])) as it:
        await it.send("huge")
        await it.until(lambda: it.notice == words)
        assert it.composer.text == "huge"
        assert not it.screen.overflowing.asking


# -------------------------------------------------------------------------------------------------- other matters


async def test_attached_files_stay_with_a_message_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("bread\n")
    engine = client(too_large(), answer("Here."))
    async with chat(engine) as it:
        await it.pilot.press(*"sum up @notes.txt please", "enter")
        await question(it)
        row = it.screen.query_one(AttachedRow)
        await it.until(lambda: row.display and [chip.path for chip in row.chips] == ["notes.txt"])
        await it.pilot.press("escape")
        await it.until(lambda: it.composer.has_focus)
        assert row.display
        (tmp_path / "notes.txt").unlink()
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and it.answers)
        assert engine.asked[1].messages == engine.asked[0].messages
        assert "bread" in engine.asked[1].messages[0].content
        assert [turn.turn.attached[0].path for turn in it.screen.query(UserTurn)] == ["notes.txt"]


async def test_what_another_instance_says_meanwhile_is_taken_along(tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    engine = client(answer("Fine."), too_large(), answer("Here."))
    async with chat(engine, store=open_chats(file, lambda notice: None)) as it:
        await it.ask("small")
        await asked(it)
        other = open_chats(file, lambda notice: None)
        said = other.path(it.screen.chat.conversation.id)
        other.append_user(it.screen.chat.conversation.id, "from elsewhere", parent=said[-1].id)
        other.close()
        await choose(it, "home")
        await it.until(lambda: it.idle and len(engine.asked) == 3)
        assert [message.content for message in engine.asked[2].messages][-1] == "from elsewhere\n\na very long text"


async def test_an_answer_that_fills_the_window_says_so_where_it_ends() -> None:
    proof = receipt(notes=("the context of 2,048 tokens is full",))
    async with chat(client(answer("half", reason="length", figures=stats(1048, prompt=1000), proof=proof))) as it:
        await it.ask("go")
        await it.sees("The answer ends here because the context of 2,048 tokens is full.", "/context makes room")
