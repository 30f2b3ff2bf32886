"""An answer that is slower than its like were here: one quiet line with the cause, and not again until it recovers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.chats.store import open_chats
from tests.app.tui.fake_client import FakeClient, Step, answer, stats
from tests.app.tui.harness import Chat, chat

BUSY = "12 tok/s, usually 19 here: other programs used 85 % of the processors"
UNKNOWN = "11 tok/s, usually 19 here: the cause was not measured"


def at(rate: float, **more: object) -> Sequence[Step]:
    """An answer of 100 tokens at this speed."""
    return answer("A river.", figures=stats(100, decode_tokens_per_second=rate, **more))


async def asked(it: Chat, count: int) -> None:
    for number in range(count):
        await it.ask(f"And river {number}?")
    await it.until(lambda: all(worker.is_finished for worker in it.app.workers if worker.group == "speed"), "the looks")
    await it.pilot.pause()


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)


async def test_the_cause_is_told_once_until_it_recovers(tmp_path: Path) -> None:
    usual = [at(19.0, other_cores=0.1)] * 6
    script = [*usual, at(12.0, other_cores=1.7), at(12.1, other_cores=1.6), at(19.0), at(12.0, other_cores=1.7)]
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    async with chat(FakeClient(script), store=store, size=(110, 90)) as it:
        await asked(it, 6)
        assert "usually" not in it.shown
        await asked(it, 1)
        await it.sees(BUSY)
        await asked(it, 2)
        assert it.shown.count("usually 19 here") == 1
        await asked(it, 1)
        await it.until(lambda: it.shown.count(BUSY) == 2, "it is told again")
    store.close()


async def test_another_cause_is_told_as_well(tmp_path: Path) -> None:
    script = [*[at(19.0, other_cores=0.1)] * 5, at(12.0, other_cores=1.7), at(11.0, other_cores=0.1)]
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    async with chat(FakeClient(script), store=store, size=(110, 90)) as it:
        await asked(it, 7)
        await it.sees(BUSY, UNKNOWN)
    store.close()


async def test_without_a_history_on_the_disk_nothing_is_said() -> None:
    async with chat(FakeClient([*[at(19.0)] * 5, at(2.0)]), size=(110, 90)) as it:
        await asked(it, 6)
        assert "usually" not in it.shown
