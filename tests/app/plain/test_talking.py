"""Messages and answers in lines: the text, the figures in words, what goes wrong, and what is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.chats.store import open_chats
from app.plain import dialogue
from app.tui import rescue
from engine.protocol import ErrorCode, Loaded, Loading, TextDelta
from tests.app.plain.harness import talk
from tests.app.tui import fake_client as fake
from tests.app.tui.fake_client import LOAD, Crash, FakeClient, Wait, answer, ends, failure, pair, reads, says

RECEIPT = (
    "Receipt: 38.7 tokens per second, 18 of 28 proposals accepted (64 percent), 1.6 tokens per pass, "
    "0.3 seconds to the first token, 47 tokens, context 78 of 8,192, proposed by lookup\n"
)
FRANCE = "Paris is the capital.\nOf France."
TOO_LONG = "The conversation is 9,000 tokens long and the context holds 8,192. Nothing was sent or lost."
THOUGHT = "<think>\nA city.\n</think>\n\nParis."


async def test_an_answer_and_its_figures_in_words() -> None:
    async with talk(FakeClient(scripts=[answer(FRANCE)])) as it:
        assert await it.types("Capital of France?") == f"SmolLM2-135M> {FRANCE}\n{RECEIPT}"
        assert it.stored == [("user", "complete", "Capital of France?"), ("assistant", "complete", FRANCE)]
        assert it.client.asked[0].messages[-1].content == "Capital of France?"


async def test_the_first_words_say_where_one_is_and_who_answers() -> None:
    async with talk() as it:
        assert it.out == (
            "Slipstream, the chat in lines. /help lists what can be typed; Ctrl+C stops an answer.\n"
            "SmolLM2-135M Q4_1 + lookup answers; mode: exact settings, untested; context: 8,192 tokens.\n"
        )


async def test_from_a_pipe_the_answers_stand_alone() -> None:
    async with talk(FakeClient(scripts=[answer(FRANCE), answer("Rome.")]), piped=True) as it:
        await it.types("Capital of France?", "And of Italy?")
        assert it.out == f"{FRANCE}\nRome.\n"
        assert it.beside.count(RECEIPT) == 2
        assert not it.chat.failed


async def test_a_pipe_begins_a_new_chat_and_a_person_goes_on_with_the_last_one(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    async with talk(store=store) as it:
        await it.types("one")
    async with talk(store=store, piped=True) as it:
        assert it.chat.chat.empty
        await it.types("two")
    async with talk(store=store) as it:
        assert [text for _, _, text in it.stored] == ["two", "Yes."]
        assert 'The chat "two", 2 messages. /show prints the last of them,' in it.out
    store.close()


async def test_no_control_code_is_written_and_the_text_is_kept_as_it_is() -> None:
    hostile = "a\x1b[2J b\x9bc \x07 over\rwrite \u202eabc\r\nend"
    async with talk(FakeClient(scripts=[answer(hostile)])) as it:
        said = await it.types("go")
        assert "a␛[2J b\ufffdc ␇ over␍write \ufffdabc\nend\n" in said
        assert not set(said) & {"\x1b", "\x9b", "\x07", "\r", "\u202e"}
        assert it.stored[1][2] == hostile


async def test_words_are_written_whole() -> None:
    pieces = ["Par", "is ", "is", " a", " ci", "ty"]
    steps = [reads(3, 3), *(TextDelta(id=0, text=piece, token_ids=(1,), sources="t") for piece in pieces)]
    written: list[str] = []
    async with talk(FakeClient(scripts=[[*steps, ends("Paris is a city")]])) as it:
        it.chat.lines._out = it.chat.lines._beside = written.append
        await it.types("go")
    text = "".join(written)
    assert text.startswith("SmolLM2-135M> Paris is a city\nReceipt:")
    assert all(piece.endswith((" ", "\n", "city")) for piece in written), written


async def test_thoughts_are_one_line_unless_they_are_wanted() -> None:
    steps = [reads(3, 3), *says(THOUGHT, size=1), ends(THOUGHT)]
    async with talk(FakeClient(scripts=[steps, steps])) as it:
        assert (await it.types("go")).startswith("(thinking, 26 tokens)\nSmolLM2-135M> Paris.\nReceipt:")
        shown = await it.types("/thoughts")
        assert shown == "Thoughts are printed from now on.\n(thinking)\nA city.\n(end of thinking)\n"
        said = await it.types("go")
        assert said.startswith("(thinking)\nA city.\n(end of thinking, 26 tokens)\nSmolLM2-135M> Paris.\nReceipt:")
        assert await it.types("/thoughts") == "Thoughts are one line from now on.\n"


async def test_a_thought_that_ends_within_a_piece_is_counted_roughly() -> None:
    delta = TextDelta(id=0, text=THOUGHT, token_ids=(1, 2, 3, 4, 5), sources="tllll")
    async with talk(FakeClient(scripts=[[reads(3, 3), delta, ends(THOUGHT)]])) as it:
        assert (await it.types("go")).startswith("(thinking, about 5 tokens)\nSmolLM2-135M> Paris.\n")


async def test_what_takes_long_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue, "SLOW_SECONDS", 0.0)
    client = FakeClient(
        loads=[[Loading(id=0, what="target", fraction=0.4), Wait("loaded")]],
        scripts=[[reads(512, 4000), Wait("read"), *answer("Yes.")]],
    )
    async with talk(client, loaded=False) as it:
        asked = asyncio.create_task(it.types("a long one"))
        await it.until(lambda: "Loading SmolLM2-135M Q4_1, 40 % so far.\n" in it.out, "the loading line")
        client.go("loaded")
        await it.until(lambda: "Reading: 512 of 4,000 tokens of the prompt.\n" in it.out, "the reading line")
        client.go("read")
        await asked
        assert (it.out.count("Loading"), it.out.count("Reading")) == (1, 1)


async def test_stopped_answers_are_kept_and_go_on() -> None:
    client = FakeClient(scripts=[[reads(3, 3), *says("One two three "), Wait("more")], answer("four.")])
    async with talk(client) as it:
        asked = asyncio.create_task(it.types("count"))
        await it.until(lambda: "three " in it.out, "the first words")
        it.chat.answering.stop()
        said = await asked
        assert "One two three \nStopped.\nReceipt: " in said
        assert it.stored[1] == ("assistant", "cancelled", "One two three ")
        assert it.chat.stopped
        said = await it.types("/continue")
        assert said.startswith("SmolLM2-135M> One two three four.\n")
        assert it.stored[1] == ("assistant", "complete", "One two three four.")
        assert client.asked[1].answer_so_far is not None


async def test_a_text_that_arrives_is_in_the_store_before_its_end() -> None:
    client = FakeClient(scripts=[[reads(3, 3), *says("One two three "), Wait("more"), *says("four"), ends("-")]])
    async with talk(client) as it:
        asked = asyncio.create_task(it.types("count"))
        await it.until(lambda: it.stored[1:] == [("assistant", "writing", "One two three ")], "a checkpoint")
        client.go("more")
        await asked


async def test_an_answer_that_was_interrupted_is_said_when_the_chat_is_opened_again(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    client = FakeClient(scripts=[[reads(3, 3), *says("One two "), Wait("for ever")]])
    async with talk(client, store=store) as it:
        asked = asyncio.create_task(it.types("count"))
        await it.until(lambda: it.stored[1:] == [("assistant", "writing", "One two ")], "a checkpoint")
        asked.cancel()
        it.chat.dialogue.live = None  # as if the process had been killed
    store.close()
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    async with talk(store=store) as it:
        assert (
            "Interrupted: Slipstream ended before the answer did. What had arrived is kept. /continue goes on with it, "
            "/regenerate makes another one.\n"
        ) in it.out
        assert (await it.types("/regenerate")).startswith("SmolLM2-135M> Yes.\n")
    store.close()


async def test_an_engine_that_dies_is_said_and_the_next_message_works() -> None:
    client = FakeClient(scripts=[[reads(3, 3), *says("One two "), Crash()], answer("Here.")])
    async with talk(client) as it:
        said = await it.types("count")
        assert said == (
            "SmolLM2-135M> One two \nThe engine stopped (signal 9, killed; out of memory?). What arrived so far is "
            "kept; send again to start a new engine.\n"
        )
        assert it.stored[1][:2] == ("assistant", "failed")
        assert it.chat.failed
        assert "SmolLM2-135M> Here.\n" in await it.types("again")


async def test_a_message_that_does_not_fit_stands_at_the_prompt_again() -> None:
    client = FakeClient(scripts=[[failure(ErrorCode.PROMPT_TOO_LARGE, TOO_LONG)]])
    async with talk(client) as it:
        said = await it.types("//much too long")
        assert said.startswith(
            f"{TOO_LONG}\nYour message stands at the prompt, to be changed. /new begins an empty chat. "
        )
        assert said.endswith("--context N at the start makes the context larger.\n")
        assert it.chat.prefilled == "//much too long"
        assert it.stored == []
        assert it.chat.store.unsent(it.chat.chat.conversation.id).text == "//much too long"


async def test_an_answer_again_that_does_not_fit_leaves_everything_as_it_was() -> None:
    client = FakeClient(scripts=[answer("One."), [failure(ErrorCode.PROMPT_TOO_LARGE, TOO_LONG)]])
    async with talk(client) as it:
        await it.types("hello")
        assert (await it.types("/regenerate")).startswith(f"{TOO_LONG}\n/new begins an empty chat. ")
        assert [text for _, _, text in it.stored] == ["hello", "One."]
        assert it.chat.prefilled == ""


async def test_a_draft_that_is_refused_and_a_model_that_cannot_be_loaded_are_said_once() -> None:
    client = FakeClient(loads=[[Loaded(id=0, pair=pair(refused="it has another vocabulary"))]])
    async with talk(client) as it:
        await it.types("one", "two")
        assert it.out.count("draft refused: it has another vocabulary; lookup is used\n") == 1
    broken = FakeClient(loads=[[failure(ErrorCode.LOAD_FAILED, "The file is damaged.")]])
    async with talk(broken) as it:
        assert it.out.count("The file is damaged.\n") == 1


async def test_a_refused_draft_is_not_repeated_under_every_answer_and_each_receipt_has_it() -> None:
    reason = "it has another vocabulary"
    words = f"draft refused: {reason}; lookup is used"
    proof = fake.receipt(refused=reason, notes=(words, "the model is slow"))
    client = FakeClient(
        [answer("One.", proof=proof), answer("Two.", proof=proof)], [[Loaded(id=0, pair=pair(refused=reason))]]
    )
    async with talk(client) as it:
        said = await it.types("one", "two")
        assert it.out.count(words) == 1
        assert words not in said
        assert said.count("the model is slow\n") == 2
        turns = it.chat.chat.turns(0, 4)
        kept = [turn.figures.receipt() for turn in turns if turn.figures is not None]
        assert [receipt.notes[0] for receipt in kept if receipt is not None] == [words, words]


async def test_a_draft_that_was_refused_before_the_engine_is_said_once() -> None:
    reason = "no model is named nosuch"
    load = LOAD.model_copy(update={"draft_refused": reason})
    notice = "The draft nosuch is not there; lookup proposes instead."
    client = FakeClient(loads=[[Loaded(id=0, pair=pair(refused=reason))]])
    async with talk(client, load=load, complaints=(notice,)) as it:
        await it.types("one")
        assert it.out.count(notice) == 1
        assert "draft refused" not in it.out


async def test_without_a_model_the_chats_can_be_read() -> None:
    words = "It is not on this machine yet. ctrl+l shows the models there are."
    client = FakeClient(loads=[[failure(ErrorCode.NO_MODEL, "No model is chosen.")]])
    async with talk(client, load=None, complaints=(words,)) as it:
        assert "It is not on this machine yet. /models lists the models there are.\n" in it.out
        assert "It is not on this machine yet." in await it.types("hello")


async def test_a_chat_that_cannot_be_saved_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    said: list[str] = []
    store = open_chats(tmp_path / "file" / "chats.sqlite", lambda notice: said.append(notice.text))
    async with talk(store=store) as it:
        assert "not saved: " in it.out
        assert "SmolLM2-135M> Yes.\n" in await it.types("hello")
    assert said


async def test_leaving_says_once_what_would_be_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(rescue, "_folders", lambda store: [tmp_path / "file" / "exports"])
    store = open_chats(tmp_path / "file" / "chats.sqlite", lambda notice: None)
    async with talk(store=store) as it:
        await it.types("hello")
        said = await it.types("/quit")
        assert 'Not saved: 2 messages of the chat "hello".' in said
        assert said.endswith(
            "No copy could be written anywhere else either. Make room and leave then, copy the text from here, or "
            "/quit once more leaves all the same.\n"
        )
        assert not it.chat.over
        await it.types("more")
        assert "Not saved: 4 messages" in await it.types("/quit")
        assert not it.chat.over
        await it.types("/quit")
        assert it.chat.over


@pytest.mark.parametrize("piped", [False, True])
async def test_leaving_asks_nothing_where_a_copy_can_be_written_or_nobody_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piped: bool
) -> None:
    (tmp_path / "file").write_text("no folder")
    folder = tmp_path / "file" / "exports" if piped else tmp_path / "elsewhere"
    monkeypatch.setattr(rescue, "_folders", lambda store: [folder])
    store = open_chats(tmp_path / "file" / "chats.sqlite", lambda notice: None)
    async with talk(store=store, piped=piped) as it:
        await it.types("hello", "/quit")
        assert it.chat.over


async def test_notices_wait_while_somebody_types() -> None:
    async with talk() as it:
        it.chat.lines.hold()
        before = it.out
        it.client.on_pair_change(pair().model_copy(update={"badge": "exact up to 8"}))
        assert it.out == before
        it.chat.lines.release()
        assert it.out == f"{before}The mode is exact up to 8 now.\n"


@pytest.mark.parametrize("text", ["", "   ", "\n"])
async def test_nothing_is_sent_for_an_empty_line(text: str) -> None:
    async with talk() as it:
        assert await it.types(text) == ""
        assert it.client.asked == []
        assert fake.LOAD in it.client.loaded
