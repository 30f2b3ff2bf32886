"""Answers in a store, for replays."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from app.chats.store import ChatStore
from app.replay.kept import KeptAnswer, kept_answer
from engine.files.fingerprint import fingerprint
from engine.protocol import Finished, Receipt
from tests.app.tui.fake_client import receipt, stats

VERSIONS = {"slipstream": "1"}


def kept(store: ChatStore, model: Path, **changes: object) -> KeptAnswer:
    """One answer in the store, as the chat puts it there."""
    proof = receipt().model_copy(update={"versions": VERSIONS, "mode": "exact", **changes})
    proof = proof.model_copy(
        update={"target": proof.target.model_copy(update={"path": str(model), "fingerprint": fingerprint(model)})}
    )
    proof = Receipt.model_validate(proof.model_dump())
    chat = store.create_conversation()
    question = store.append_user(chat.id, "Name a river.", parent=None)
    answer = store.start_answer(chat.id, parent=question.id)
    store.finish_answer(
        answer.id,
        Finished(
            id=1,
            finish_reason="stop",
            text="The Rhine",
            token_ids=(5, 6, 7),
            sources="tlc",
            stats=stats(3, accepted=1, rejected=1, prompt=3, prompt_tokens_cached=2),
            receipt=proof,
        ),
    )
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    return found


def changed(store: ChatStore, statement: str) -> None:
    """The store's file is edited by other means."""
    assert store.file is not None
    with contextlib.closing(sqlite3.connect(store.file)) as db, db:
        db.execute(statement)
