"""A conversation that does not fit the context: the user is asked, every answer does what it says, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from app.chats.store import open_chats
from app.last_choice import Memory
from app.library import window
from app.tui.widgets.attached_row import AttachedRow
from app.tui.widgets.header import Header
from app.tui.widgets.overflow_picker import OverflowPicker
from app.tui.widgets.turns import UserTurn
from engine.protocol import ErrorCode, Loaded, Loading, Outgrown
from tests.app.tui.fake_client import (
    LOAD,
    MODEL_PATH,
    FakeClient,
    Step,
    Wait,
    answer,
    ends,
    failure,
    model,
    pair,
    reads,
    receipt,
    says,
    stats,
)
from tests.app.tui.fake_shelf import FakeShelf
from tests.app.tui.harness import Chat, chat, memory_store
from tests.app.tui.test_typing_order import press_at_once
from tests.fixtures.headers import write_model

HEADING = "2,500 tokens do not fit into the context of 2,048"
NOTHING_SENT = f"Nothing was sent: {HEADING}; your message is in the composer."
SENTENCE = "The conversation is 2,500 tokens long and the context holds 2,048. Nothing was sent or lost."
DROP = "drop the oldest turns"
LARGER = "larger context"
DROPPING = "Whenever this chat is full, its oldest turns are left out from now on; /overflow ask asks again."


def too_large(*, dropped: int = 2, left: int = 900) -> list[Step]:
    """What the engine answers."""
    outgrown = Outgrown(tokens=2500, context=2048, dropped=dropped, left=left)
    return [failure(ErrorCode.PROMPT_TOO_LARGE, SENTENCE).model_copy(update={"outgrown": outgrown})]


def client(*scripts: list[Step], context: int = 2048) -> FakeClient:
    return FakeClient(list(scripts), loads=[[Loaded(id=0, pair=pair(context=context))]])


async def asked(it: Chat, text: str = "a very long text") -> None:
    """Send a message that does not fit, and wait for the question."""
    await it.send(text)
    await question(it)


async def question(it: Chat) -> None:
    await it.until(lambda: it.screen.overflowing.asking and it.screen.query_one(OverflowPicker).display, "the question")


def unsent(it: Chat) -> str:
    return it.screen.store.unsent(it.screen.chat.conversation.id).text


async def choose(it: Chat, *keys: str) -> None:
    await it.pilot.press(*keys, "enter")


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


# ------------------------------------------------------------------------------------------------ who is not asked


@pytest.mark.parametrize("by", ["settings", "chat"])
async def test_who_wants_it_refused_is_not_asked(by: str) -> None:
    async with chat(client(answer("Fine."), too_large()), overflow="stop" if by == "settings" else "ask") as it:
        if by == "chat":
            await it.send("/overflow stop")
        await it.ask("small")
        await it.send("a very long text")
        await it.until(lambda: it.notice == f"{SENTENCE} /context shows what can be done.")
        assert it.composer.text == "a very long text"
        assert not it.screen.overflowing.asking


async def test_who_has_the_oldest_left_out_is_asked_only_where_that_does_not_help() -> None:
    engine = client(answer("Fine."), too_large(dropped=0, left=2500))
    async with chat(engine, overflow="drop-oldest") as it:
        await it.ask("small")
        await asked(it)
        assert [settings.overflow for settings in engine.asked] == ["drop-oldest"] * 2
        assert "overflow" not in it.lines[-2], "nothing is otherwise than for every chat"


async def test_who_has_written_on_keeps_the_keyboard() -> None:
    engine = client([Wait("read"), *too_large()])
    async with chat(engine) as it:
        await it.send("a very long text")
        await it.until(lambda: engine.asked)
        await it.pilot.press(*"and")
        engine.go("read")
        await it.until(lambda: it.idle)
        await it.until(lambda: it.notice == f"{SENTENCE} /context shows what can be done.")
        await it.pilot.press(*" so on")
        assert it.composer.text == "a very long text\nand so on"
        assert not it.screen.overflowing.asking


async def test_who_writes_on_while_asked_writes_into_the_composer() -> None:
    engine = client(answer("Fine."), too_large(), answer("Both."))
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it)
        await it.pilot.press(*" and so on")
        await it.until(lambda: it.composer.text == "a very long text and so on")
        await it.until(lambda: not it.screen.query_one(OverflowPicker).display)
        assert it.notice == NOTHING_SENT
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        assert engine.asked[2].messages[-1].content == "a very long text and so on"


async def test_what_is_typed_behind_the_choice_stays_in_the_composer() -> None:
    engine = client(answer("Fine."), too_large(), answer("Here."))
    async with chat(engine) as it:
        await it.ask("small")
        await asked(it, "burst")
        press_at_once(it, "up", "enter", *"xyz")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        await it.until(lambda: it.composer.text == "xyz")
        assert it.questions == ["small", "burst"]
        assert engine.loaded[-1].context == 4096
        assert not it.screen.overflowing.asking


@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_behind_a_stop_the_message_is_written_on(key: str) -> None:
    async with chat(client(too_large())) as it:
        await asked(it, "burst")
        press_at_once(it, key, *" xyz")
        await it.until(lambda: it.composer.text == "burst xyz")
        assert it.notice == NOTHING_SENT


async def test_a_paste_goes_there_too() -> None:
    async with chat(client(too_large())) as it:
        await asked(it)
        it.app.post_message(events.Paste(" pasted"))
        await it.until(lambda: it.composer.text == "a very long text pasted")
        assert it.notice == NOTHING_SENT


async def test_a_click_into_the_composer_is_a_stop() -> None:
    async with chat(client(too_large())) as it:
        await asked(it)
        await it.pilot.click("#composer")
        await it.until(lambda: not it.screen.overflowing.asking)
        assert it.notice == NOTHING_SENT
        assert it.composer.has_focus


async def test_another_chat_ends_the_question_and_the_message_stays_with_its_own() -> None:
    store = memory_store()
    async with chat(client(answer("Fine."), too_large()), store=store) as it:
        await it.ask("small")
        first = it.screen.chat.conversation.id
        await asked(it)
        await it.pilot.press("ctrl+n")
        await it.until(lambda: it.screen.chat.conversation.id != first)
        assert not it.screen.query_one(OverflowPicker).display
        assert it.composer.text == ""
        assert it.composer.has_focus
        assert store.unsent(first).text == "a very long text"


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


async def test_an_answer_that_fills_the_window_says_so_where_it_ends() -> None:
    proof = receipt(notes=("the context of 2,048 tokens is full",))
    async with chat(client(answer("half", reason="length", figures=stats(1048, prompt=1000), proof=proof))) as it:
        await it.ask("go")
        await it.sees("The answer ends here because the context of 2,048 tokens is full.", "/context makes room")
