"""What a start and a listing cost, by the work that SQLite says it does: never a walk over all chats or messages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.chats import tree
from app.chats.store import ChatStore

from .conftest import talk
from .processes import ROOT


def plan(store: ChatStore, query: str, *values: object) -> list[str]:
    return store._keeper.read(lambda db: [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values)])


LISTED = [
    (tree.LIST, (50, 0)),
    (tree.NEWEST, ()),
    (tree.LAST_DELETED, ()),
    (tree.PATH, (1, 100)),
    (tree.NEWEST_BELOW, (1,)),
    (tree.VARIANTS, (1,)),
]
IN_ORDER = {
    "SCAN CONSTANT ROW",
    "SCAN conversations USING INDEX conversations_in_order",
    "SCAN conversations USING INDEX conversations_listed",
}


@pytest.mark.parametrize(("query", "values"), LISTED)
def test_no_table_is_walked(store: ChatStore, query: str, values: tuple[object, ...]) -> None:
    steps = plan(store, query, *values)
    walks = [step for step in steps if step.startswith("SCAN") and step not in ("SCAN up", "SCAN down")]
    assert set(walks) <= IN_ORDER
    if query in (tree.LIST, tree.NEWEST, tree.LAST_DELETED):
        assert not any("TEMP B-TREE" in step for step in steps)  # in order already, so the limit ends it


def test_a_start_with_many_chats_reads_a_few_rows(store: ChatStore) -> None:
    """2,000 chats and 20 cost a start the same number of SQLite's steps."""

    def steps() -> int:
        count = 0

        def one_more() -> None:
            nonlocal count
            count += 1

        store._keeper.read(lambda db: db.set_progress_handler(one_more, 10))
        store.conversations(limit=15)
        last = store.last_conversation()
        assert last is not None
        store.path(last.id)
        store._keeper.read(lambda db: db.set_progress_handler(None, 0))
        return count

    for number in range(20):
        talk(store, f"question {number}", "answer")
    few = steps()
    store._keeper.read(
        lambda db: db.executescript(
            """
            BEGIN;
            CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                SELECT i FROM n;
            INSERT INTO conversations (id, title, created, updated) SELECT i, 'old', i, i FROM n;
            INSERT INTO messages (id, conversation, role, content, state, created)
                SELECT i, i, 'user', 'x', 'complete', i FROM n;
            UPDATE conversations SET leaf = id WHERE id <= 2000;
            COMMIT;
            """
        )
    )
    assert len(store.conversations(limit=3000)) == 2020
    assert steps() <= few + 2


def test_importing_the_store_imports_nothing_heavy() -> None:
    script = "import sys, app.chats.store; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert not loaded & {"pydantic", "textual", "rich", "typer", "jinja2", "engine", "llama_cpp", "huggingface_hub"}
