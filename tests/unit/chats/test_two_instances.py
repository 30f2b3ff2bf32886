from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from app.chats.records import Notice
from app.chats.store import ChatStore

from .conftest import OpenStore, go_on, talk, texts
from .processes import another_instance, hear

MESSAGES = 60

TALKING = f"""
chat_id, name = int(sys.stdin.readline()), sys.stdin.readline().strip()
say("ready")
wait()
parent = store.path(chat_id)[-1].id
for number in range({MESSAGES}):
    said = store.append_user(chat_id, f"{{name}} {{number}}", parent=parent)
    answer = store.start_answer(chat_id, parent=said.id)
    store.checkpoint(answer.id, "half")
    store.fail_answer(answer.id, "enough", text=f"{{name}} {{number}} answered")
    parent = answer.id
say("trouble:", store.trouble)
store.close()
"""


def test_three_processes_write_into_one_chat(
    store: ChatStore, file: Path, open_store: OpenStore, notices: list[Notice]
) -> None:
    chat = talk(store, "shared")
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(another_instance(file, TALKING)) for _ in range(3)]
        for name, process in zip("abc", processes, strict=True):
            assert process.stdin is not None
            process.stdin.write(f"{chat.id}\n{name}\n")
            process.stdin.flush()
            assert hear(process) == "ready"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        assert [hear(process) for process in processes] == ["trouble: None"] * 3

    with contextlib.closing(sqlite3.connect(file)) as db:
        said = {row[0] for row in db.execute("SELECT content FROM messages")}
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    expected = {f"{name} {n}{end}" for name in "abc" for n in range(MESSAGES) for end in ("", " answered")}
    assert said == expected | {"shared"}
    assert notices == []


def test_first_starts_at_the_same_moment(file: Path, open_store: OpenStore, notices: list[Notice]) -> None:
    script = "chat = store.create_conversation()\nstore.append_user(chat.id, 'x', parent=None)\nsay(store.trouble)\n"
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(another_instance(file, script + "wait()")) for _ in range(4)]
        assert [hear(process) for process in processes] == ["None"] * 4
    assert len(open_store().conversations()) == 4
    assert notices == []


def test_each_sees_what_the_other_said(store: ChatStore, open_store: OpenStore) -> None:
    other = open_store()
    chat = talk(store, "question")
    go_on(other, chat, "answer")
    assert texts(store, chat) == ["question", "answer"]
    go_on(store, chat, "thanks")
    assert texts(other, chat) == ["question", "answer", "thanks"]


def test_a_live_instance_is_known_by_the_chat_it_has_open(store: ChatStore, open_store: OpenStore) -> None:
    chat = talk(store, "shared")
    other = open_store()
    other.mark_open(chat.id)
    assert store.open_elsewhere(chat.id)
    assert other.open_elsewhere(chat.id)
    own = other.create_conversation()
    assert not store.open_elsewhere(chat.id), "it has gone on to another chat"
    assert store.open_elsewhere(own.id)
    other.close()
    assert not store.open_elsewhere(own.id), "it has ended"
