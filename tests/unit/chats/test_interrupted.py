"""A process that dies in mid-answer loses at most what came after its last checkpoint; a living one is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.records import Figures, Notice
from app.chats.store import ChatStore
from app.chats.writers import OPENING, Writer, locks_folder, opening
from engine.stats import Stats

from .conftest import OpenStore, finished, talk, texts
from .processes import another_instance, hear

ANSWERING = """
chat = store.create_conversation()
question = store.append_user(chat.id, "question", parent=None)
answer = store.start_answer(chat.id, parent=question.id)
say(chat.id)
text = ""
for number in range(1_000_000):
    text += f"{number} "
    store.checkpoint(answer.id, text)
    say(number)
"""


@pytest.mark.parametrize("checkpoints", [0, 1, 7, 40])
def test_kill_9_in_mid_answer(file: Path, open_store: OpenStore, notices: list[Notice], checkpoints: int) -> None:
    with another_instance(file, ANSWERING) as process:
        chat_id = int(hear(process))
        for _ in range(checkpoints):
            hear(process)
    store = open_store()
    question, answer = store.path(chat_id)
    assert (question.content, question.state) == ("question", "complete")
    assert answer.state == "interrupted"
    assert answer.content.startswith("".join(f"{number} " for number in range(checkpoints)))
    assert notices == []
    assert [chat.id for chat in store.conversations()] == [chat_id]
    talk(store, "goes on")
    assert len(list(locks_folder(file).iterdir())) == 2  # the dead writer's lock was tidied away


def test_a_user_message_is_there_at_once(file: Path, open_store: OpenStore) -> None:
    script = "chat = store.create_conversation()\nstore.append_user(chat.id, 'q', parent=None)\nsay(chat.id)\nwait()"
    with another_instance(file, script) as process:
        chat_id = int(hear(process))
    assert [m.content for m in open_store().path(chat_id)] == ["q"]


def test_an_answer_of_a_living_instance_stays_in_writing(file: Path, open_store: OpenStore) -> None:
    script = """
chat = store.create_conversation()
answer = store.start_answer(chat.id, parent=store.append_user(chat.id, "question", parent=None).id)
store.checkpoint(answer.id, "so far")
say(chat.id)
wait()
store.checkpoint(answer.id, "so far and further")
say("done")
wait()
"""
    with another_instance(file, script) as process:
        chat_id = int(hear(process))
        store = open_store()
        assert [m.state for m in store.path(chat_id)] == ["complete", "writing"]
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert hear(process) == "done"
        assert store.path(chat_id)[-1].content == "so far and further"
    # Killed by now: the open store notices when it looks at the chat again.
    last = store.path(chat_id)[-1]
    assert (last.state, last.content) == ("interrupted", "so far and further")


def test_a_store_closed_in_mid_answer_leaves_it_interrupted(store: ChatStore, open_store: OpenStore) -> None:
    chat = talk(store, "question")
    store.checkpoint(store.start_answer(chat.id, parent=chat.leaf or 0).id, "half")
    store.close()
    store.close()
    last = open_store().path(chat.id)[-1]
    assert (last.state, last.content) == ("interrupted", "half")


def test_an_answer_wrongly_called_interrupted_comes_back(store: ChatStore, open_store: OpenStore, file: Path) -> None:
    chat = talk(store, "question")
    answer = store.start_answer(chat.id, parent=chat.leaf or 0)
    for lock in locks_folder(file).iterdir():  # somebody cleans up; the next instance cannot know that we live
        lock.unlink()
    other = open_store()
    assert other.path(chat.id)[-1].state == "interrupted"
    store.checkpoint(answer.id, "still here")
    assert other.message(answer.id) is not None
    store.finish_answer(answer.id, finished("still here."))
    assert texts(other, chat) == ["question", "still here."]
    assert other.path(chat.id)[-1].state == "complete"


def test_writers_know_each_other(file: Path) -> None:
    file.parent.mkdir()
    one, two = Writer(file), Writer(file)
    assert not one.is_gone(one.token)
    assert not one.is_gone(two.token)
    two.close()
    assert one.is_gone(two.token)
    assert one.is_gone(None)
    one.sweep()
    assert [lock.name for lock in locks_folder(file).iterdir()] == [one.token]
    one.close()


def test_a_writer_name_from_the_store_is_never_a_path(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir()
    precious = tmp_path / "precious"
    precious.touch()
    writer = Writer(file)
    assert writer.is_gone("../../precious")
    assert precious.exists()
    writer.close()


def test_opening_excludes_others_until_their_patience_ends(file: Path) -> None:
    file.parent.mkdir()
    with opening(file, 0), opening(file, 0.0):  # the inner one goes ahead: a chat has to start
        assert (locks_folder(file) / OPENING).exists()


def test_figures_of_a_checkpoint_survive_a_kill_and_give_way_to_the_end(
    store: ChatStore, open_store: OpenStore, file: Path
) -> None:
    chat = talk(store, "question")
    answer = store.start_answer(chat.id, parent=chat.leaf or 0)
    so_far = Figures(answer.id, "interrupted", (5, 6), "tl", Stats(output_tokens=2).model_dump_json(), "{}")
    store.checkpoint(answer.id, "half", so_far)
    other = open_store()
    assert other.figures([answer.id]) == {answer.id: so_far}
    store.checkpoint(answer.id, "half an", replace(so_far, token_ids=(5, 6, 7), sources="tlt"))
    assert other.figures([answer.id])[answer.id].token_ids == (5, 6, 7)
    store.finish_answer(answer.id, finished("whole"))
    store.checkpoint(answer.id, "too late", so_far)
    kept = other.figures([answer.id])[answer.id]
    assert (kept.finish_reason, kept.token_ids) == ("stop", (5, 6, 7))
    assert texts(other, chat) == ["question", "whole"]


def test_a_failed_answer_keeps_the_figures_there_are(store: ChatStore) -> None:
    chat = talk(store, "question")
    answer = store.start_answer(chat.id, parent=chat.leaf or 0)
    figures = Figures(answer.id, "failed", (5,), "t", Stats(output_tokens=1).model_dump_json(), None)
    store.fail_answer(answer.id, "It stopped.", text="half", figures=figures)
    assert store.figures([answer.id]) == {answer.id: figures}
