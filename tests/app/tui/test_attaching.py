"""@file: what goes out with a message, and what becomes of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from app.attached import for_receipt, packed
from app.chats.store import open_chats
from app.tui.widgets.attached_row import AttachedRow
from engine.protocol import AttachedFile
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, says
from tests.app.tui.harness import Chat, chat, memory_store

BLOCK = "notes.txt\n```\nbread\n```"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("bread\n")
    (work / "plan.md").write_text("# plan\n" * 100)
    (work / "cat.png").write_bytes(b"\x89PNG")
    monkeypatch.chdir(work)
    return work


def chips(it: Chat) -> list[tuple[str, int, bool]]:
    row = it.screen.query_one(AttachedRow)
    return [(chip.path, chip.tokens, chip.exact) for chip in row.chips] if row.display else []


async def test_a_file_is_shown_before_and_after_sending_and_is_in_the_prompt(folder: Path) -> None:
    client = FakeClient([answer("ok")] * 2)
    async with chat(client) as it:
        await it.pilot.press(*"sum up @notes.txt ")
        await it.sees("+ notes.txt  6 bytes · 1 token")
        await it.pilot.press(*"please", "enter")
        await it.until(lambda: it.answers and it.idle)
        assert it.questions == ["sum up @notes.txt please"]
        assert it.stored[0][2] == "sum up @notes.txt please", "the stored text is what was said"
        assert client.asked[0].messages[-1].content == f"sum up @notes.txt please\n\n{BLOCK}"
        assert chips(it) == []
        await it.sees("+ notes.txt  6 bytes")
        (folder / "notes.txt").write_text("changed")
        await it.ask("and now?")
        assert client.asked[1].messages[0].content == f"sum up @notes.txt please\n\n{BLOCK}", "history does not change"


async def test_the_receipt_names_every_file_of_the_conversation(folder: Path) -> None:
    os.utime(folder / "notes.txt", (1_700_000_000, 1_700_000_000))
    client = FakeClient([answer("ok")] * 3)
    async with chat(client, size=(120, 60)) as it:
        await it.ask("sum up @notes.txt please")
        await it.ask("and @plan.md")
        await it.ask("and @notes.txt again")
        proofs = [view.proof for view in it.answers]
        assert [[one.path for one in proof.attachments] for proof in proofs if proof] == [
            ["notes.txt"],
            ["notes.txt", "plan.md"],
            ["notes.txt", "plan.md"],
        ]
        first = proofs[0]
        assert first is not None
        digest = hashlib.sha256(b"bread\n").hexdigest()
        assert first.attachments[0] == AttachedFile(
            path="notes.txt", sha256=digest, modified="2023-11-14T22:13:20+00:00"
        )
        await it.pilot.press("alt+up", "i")
        await it.sees("attached", f"notes.txt, {digest[:12]}, 2023-11-14", "22:13:20 UTC", "plan.md")


@pytest.mark.parametrize("when", [1e15, -1e15, float("nan")])
def test_a_file_of_which_the_time_makes_no_sense_is_named_without_it(when: float) -> None:
    assert [one.modified for one in for_receipt([packed("notes.txt", "/notes.txt", b"bread", when)])] == [""]


async def test_what_is_sent_is_the_file_as_it_is_then(folder: Path) -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.pilot.press(*"@notes.txt ")
        await it.until(lambda: chips(it) != [])
        (folder / "notes.txt").write_text("butter\n")
        await it.pilot.press("enter")
        await it.until(lambda: client.asked)
        assert client.asked[0].messages[-1].content == "@notes.txt \n\nnotes.txt\n```\nbutter\n```"


async def test_a_name_without_a_space_behind_it_is_attached_on_sending(folder: Path) -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.send("(see @plan.md) and @notes.txt.")
        await it.until(lambda: client.asked)
        assert client.asked[0].messages[-1].content.endswith(f"\n\n{BLOCK}")
        assert [one.path for one in it.screen.chat.attached] == ["plan.md", "notes.txt"]


async def test_the_chip_goes_with_the_mention_and_comes_back_with_undo(folder: Path) -> None:
    async with chat() as it:
        await it.pilot.press(*"@notes.txt @plan.md ")
        await it.until(lambda: [chip[0] for chip in chips(it)] == ["notes.txt", "plan.md"])
        it.composer.move_cursor((0, 0))
        await it.pilot.press("delete")
        await it.until(lambda: [chip[0] for chip in chips(it)] == ["plan.md"])
        await it.pilot.press("ctrl+underscore")
        await it.until(lambda: [chip[0] for chip in chips(it)] == ["notes.txt", "plan.md"])


async def test_what_cannot_be_attached_says_why_and_nothing_is_sent(folder: Path) -> None:
    client = FakeClient()
    async with chat(client) as it:
        await it.pilot.press(*"look @cat.png ")
        await it.sees("cat.png is a picture; only text files can be attached.")
        await it.pilot.press(*"now", "enter")
        await it.sees("Nothing was sent. Without the @ it is only a name.")
        assert it.composer.text == "look @cat.png now"
        assert not client.asked
        assert not it.questions


async def test_somebody_is_not_a_file(folder: Path) -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        await it.ask("ask @somebody about @property")
        assert client.asked[0].messages[-1].content == "ask @somebody about @property"


async def test_tokens_are_counted_by_the_engine_where_it_can(folder: Path) -> None:
    async with chat() as it:
        await it.pilot.press(*"@plan.md ")
        await it.sees("+ plan.md  700 bytes · 200 tokens")


async def test_a_message_that_waits_keeps_its_files(folder: Path) -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")], answer("ok")])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")

        async def never() -> None:
            pass

        client.cancel = never  # type: ignore[method-assign]
        await it.pilot.press("escape")
        await it.send("see @notes.txt")
        await it.sees("+ notes.txt  6 bytes")
        client.go("end")
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        assert client.asked[1].messages[-1].content == f"see @notes.txt\n\n{BLOCK}"


async def test_files_that_changed_are_marked_when_the_chat_is_opened_again(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "chats.sqlite"
    store = open_chats(file, lambda notice: None)
    async with chat(FakeClient([answer("ok")]), store=store) as it:
        await it.ask("@notes.txt @plan.md @somebody")
        await it.sees("+ notes.txt  6 bytes")
        assert "changed since" not in it.shown
    store.close()
    (folder / "notes.txt").write_text("butter")
    (folder / "plan.md").unlink()
    store = open_chats(file, lambda notice: None)
    async with chat(FakeClient([answer("ok")]), store=store) as it:
        await it.sees("+ notes.txt, changed since", "+ plan.md, gone")
        await it.ask("go on")
        assert BLOCK in it.client.asked[0].messages[0].content
    store.close()


async def test_a_text_that_comes_back_attaches_its_files_again(folder: Path) -> None:
    store = memory_store()
    async with chat(store=store) as it:
        await it.pilot.press(*"see @notes.txt")
        it.screen.keep_unsent()
    async with chat(store=store) as it:
        await it.until(lambda: chips(it) == [("notes.txt", 2, False)])


async def test_names_of_files_are_inert(folder: Path) -> None:
    name = "\x1b[31mred\u202e.txt"
    (folder / name).write_text("x")
    async with chat(FakeClient([answer("ok")])) as it:
        await it.send(f"@{name} ")
        await it.sees("+ ␛[31mred\ufffd.txt  1 byte")


async def test_a_name_that_is_no_file_is_said_before_anything_is_sent(folder: Path) -> None:
    client = FakeClient([answer("ok")] * 3)
    async with chat(client, size=(120, 40)) as it:
        await it.send("sum up @nosuch.txt please")
        await it.sees("There is no file nosuch.txt; it is sent as text with enter once more. Nothing was sent yet.")
        assert it.composer.text == "sum up @nosuch.txt please"
        assert not client.asked
        await it.pilot.press("enter")
        await it.until(lambda: it.answers and it.idle)
        assert it.questions == ["sum up @nosuch.txt please"]
        assert client.asked[0].messages[-1].content == "sum up @nosuch.txt please"


async def test_a_folder_is_none_and_a_name_alone_may_be_a_person(folder: Path) -> None:
    (folder / "src").mkdir()
    client = FakeClient([answer("ok")] * 3)
    async with chat(client, size=(120, 40)) as it:
        await it.send("see @src/ and @gone.md, @notes.txt")
        await it.sees("@src/ is a folder, there is no file gone.md; they are sent as text with enter once more.")
        assert it.composer.text == "see @src/ and @gone.md, @notes.txt"
        await it.send("see @src/ and @gone.rst")
        await it.sees("there is no file gone.rst")  # another message is another question
        await it.send("ask @somebody about @app.get")
        await it.until(lambda: it.questions == ["ask @somebody about @app.get"])


async def test_the_key_that_sends_is_named_as_it_is(folder: Path) -> None:
    async with chat(keys={"composer.send": "f8"}, size=(120, 40)) as it:
        it.composer.text = "@nosuch.txt"
        await it.pilot.press("f8")
        await it.sees("it is sent as text with f8 once more.")
