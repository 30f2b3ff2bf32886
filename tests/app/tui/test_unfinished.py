"""What is there of an answer after a kill or a crash: its text, its seed, and the tokens to go on behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from app.chats.store import ChatStore, open_chats
from app.tui.unfinished import Unfinished
from engine.protocol import AnswerSoFar, TextDelta
from engine.stats import Stats
from tests.app.tui.fake_client import Crash, FakeClient, Step, Wait, answer, counts, reads, receipt, starts
from tests.app.tui.harness import Chat, chat
from tests.app.tui.turned import press


def delta(text: str, *tokens: tuple[int, int], source: str = "l") -> TextDelta:
    """``text`` that comes with (id, completed characters) tokens."""
    return TextDelta(
        id=0,
        text=text,
        token_ids=tuple(token for token, _ in tokens),
        sources=source * len(tokens),
        completed=tuple(count for _, count in tokens),
    )


def unfinished(*deltas: TextDelta) -> Unfinished:
    found = Unfinished(receipt())
    for one in deltas:
        found.take(one)
    return found


HELD = (delta("Once ", (11, 5)), delta("upon", (12, 5)))
"""The blank behind ``upon`` is held back: it may begin a stop string."""


def test_a_checkpoint_ends_with_the_last_token_that_is_all_there() -> None:
    text, figures = unfinished(*HELD).checkpoint(7, "Once upon", None)
    assert text == "Once "
    assert figures is not None
    proof, stats = figures.receipt(), figures.stats()
    assert proof is not None
    assert stats is not None
    assert (figures.message, figures.finish_reason) == (7, "interrupted")
    assert (figures.token_ids, figures.sources, proof.text_lengths) == ((11,), "l", (5,))
    assert (proof.seed, stats.prompt_tokens, stats.output_tokens, stats.accepted) == (7, 3, 1, 1)


def test_a_token_without_text_belongs_to_what_stands_before_it() -> None:
    """The first bytes of a character: what comes next completes it, also when the answer goes on."""
    text, figures = unfinished(delta("Once ", (11, 5), (12, 0))).checkpoint(7, "Once ", Stats(output_tokens=2))
    assert figures is not None
    assert (text, figures.token_ids) == ("Once ", (11, 12))


def test_before_a_word_has_come_the_seed_is_known() -> None:
    text, figures = unfinished().checkpoint(7, "", None)
    assert text == ""
    assert figures is not None
    assert figures.token_ids == ()
    assert (figures.receipt() or receipt()).seed == 7


def test_without_a_receipt_there_is_the_text_alone() -> None:
    nothing = Unfinished()
    nothing.take(HELD[0])
    assert nothing.checkpoint(7, "Once ", None) == ("Once ", None)
    assert nothing.failed(7, "Once ", None) is None


def test_tokens_of_which_the_text_is_not_told_are_not_kept() -> None:
    old = unfinished(TextDelta(id=0, text="Once ", token_ids=(11,), sources="t"))
    text, figures = old.checkpoint(7, "Once ", None)
    assert figures is not None
    assert (text, figures.token_ids, figures.sources) == ("Once ", (), "")


def test_a_failed_answer_keeps_all_its_text_and_its_tokens_where_they_spell_it() -> None:
    whole = unfinished(*HELD).failed(7, "Once upon ", None)
    part = unfinished(*HELD).failed(7, "Once upon", None)
    assert whole is not None
    assert part is not None
    assert (whole.finish_reason, whole.token_ids, part.token_ids) == ("failed", (11, 12), ())
    stats = part.stats()
    assert stats is not None
    assert stats.output_tokens == 2, "they were counted"


# --------------------------------------------------------------------------------------------------------- in the chat


def after_a_kill(store: ChatStore, tmp_path: Path) -> ChatStore:
    """The store as the next process finds it when this one is killed now."""
    assert store.file is not None
    copy = tmp_path / "killed.sqlite"
    with closing(sqlite3.connect(store.file)) as db:
        db.execute("VACUUM INTO ?", (str(copy),))
    return open_chats(copy, print)


def writing(*more: Step) -> list[Step]:
    return [starts(), reads(3, 3), delta("Once ", (11, 5)), delta("upon a ", (12, 5), (13, 2)), *more]


async def begun(it: Chat) -> None:
    """An answer of which a checkpoint was made with all three tokens."""
    await it.send("a story")
    await it.sees("Once upon a")
    store, message = it.screen.store, it.screen.chat.leaf
    await it.until(lambda: (found := store.figures([message]).get(message)) and len(found.token_ids) == 3)


async def test_a_kill_keeps_seed_and_tokens_and_the_answer_goes_on_behind_them(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", print)
    async with chat(FakeClient([writing(counts(), Wait("never"))]), store=store) as it:
        await begun(it)
        killed = after_a_kill(store, tmp_path)
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
    client = FakeClient([answer("time.")])
    async with chat(client, store=killed, size=(120, 44)) as it:
        await it.sees("Once upon a", "interrupted: Slipstream ended before the answer did.", "3 tok")
        await it.pilot.press("alt+up", "i")
        await it.sees("seed", "how it was made")
        await it.pilot.press("escape")
        await press(it, "g")
        await it.sees("Once upon a time.")
        assert client.asked[0].answer_so_far == AnswerSoFar(token_ids=(11, 12, 13), text="Once upon a ")
        assert client.asked[0].seed == 7
    store.close()
    killed.close()


async def test_a_kill_while_the_prompt_is_read_keeps_the_seed(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", print)
    async with chat(FakeClient([[starts(), reads(1, 3), Wait("never")]]), store=store) as it:
        await it.send("a story")
        await it.until(lambda: len(it.screen.chat) == 2, "the answer in the store")
        killed = after_a_kill(store, tmp_path)
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
    chat_id = killed.conversations()[0].id
    last = killed.path(chat_id)[-1]
    assert (last.state, last.content) == ("interrupted", "")
    found = killed.figures([last.id])[last.id].receipt()
    assert found is not None
    assert found.seed == 7
    store.close()
    killed.close()


async def test_a_crash_of_the_engine_keeps_them_as_well() -> None:
    client = FakeClient([writing(Crash()), answer("time.")])
    async with chat(client, size=(120, 34)) as it:
        await it.send("a story")
        await it.sees("The engine stopped")
        await it.until(lambda: it.idle)
        await it.pilot.press("alt+up")
        await press(it, "g")
        await it.sees("Once upon a time.")
        assert client.asked[1].answer_so_far == AnswerSoFar(token_ids=(11, 12, 13), text="Once upon a ")
        assert client.asked[1].seed == 7


async def test_quitting_keeps_them_too() -> None:
    async with chat(FakeClient([writing(Wait("never"))])) as it:
        await it.send("a story")
        await it.sees("Once upon a")
        it.screen.leave()
        message = it.screen.chat.leaf
        figures = it.screen.store.figures([message])[message]
        assert (figures.finish_reason, figures.token_ids) == ("cancelled", (11, 12, 13))
        assert (figures.receipt() or receipt()).text_lengths == (5, 5, 2)


async def test_the_end_takes_the_place_of_what_was_kept_until_then() -> None:
    end = answer("Once upon a time.")[-1]
    async with chat(FakeClient([writing(Wait("end"), end)])) as it:
        await begun(it)
        it.client.go("end")
        await it.until(lambda: it.idle)
        message = it.screen.chat.leaf
        figures = it.screen.store.figures([message])[message]
        assert (figures.finish_reason, figures.token_ids) == ("stop", (1, 2))
