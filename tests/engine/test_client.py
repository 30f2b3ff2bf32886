"""The client and the real engine process: crashes, cancels, odd surroundings. Nothing is lost, nothing is left over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal

import pytest

from engine.client import EngineClient
from engine.protocol import (
    ErrorCode,
    Event,
    Failed,
    Finished,
    Loaded,
    Loading,
    Prefilling,
    TextDelta,
)
from tests.engine.clients import ask, idle, question, until_text
from tests.fixtures.processes import alive


async def test_loading_shows_progress_and_then_the_answer_streams(client: EngineClient) -> None:
    seen: list[Event] = []
    async with contextlib.aclosing(client.generate(question(max_tokens=12))) as events:
        async for event in events:
            seen.append(event)
    kinds = [type(event) for event in seen]
    assert kinds.index(Loading) < kinds.index(Loaded) < kinds.index(Prefilling) < kinds.index(TextDelta)
    assert kinds[-1] is Finished
    fractions = [event.fraction for event in seen if isinstance(event, Loading)]
    assert fractions == sorted(fractions)
    finished = seen[-1]
    assert isinstance(finished, Finished)
    assert finished.text == "".join(event.text for event in seen if isinstance(event, TextDelta))
    assert finished.stats.output_tokens == len(finished.token_ids) == 12
    assert finished.finish_reason == "length"
    assert finished.stats.load_seconds > 0
    second = await ask(client, question(max_tokens=2))
    assert isinstance(second, Finished)
    assert second.stats.load_seconds == 0, "it was loaded already"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGKILL, "signal 9, killed; out of memory?"),
        (signal.SIGILL, "signal 4, illegal instruction"),
        (signal.SIGSEGV, "signal 11, memory fault"),
    ],
)
async def test_a_killed_engine_says_so_keeps_the_text_and_the_next_message_works(
    client: EngineClient, number: signal.Signals, words: str
) -> None:
    seen = await until_text(client, lambda: os.kill(client.pid or 0, number))
    failed = seen[-1]
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.ENGINE_STOPPED
    assert words in failed.message
    assert "kept" in failed.message
    assert any(isinstance(event, TextDelta) and event.text for event in seen)
    assert client.pair is None

    again = await ask(client, question(max_tokens=5))
    assert isinstance(again, Finished)
    assert len(again.token_ids) == 5


async def test_a_cancel_keeps_the_partial_answer_and_frees_the_processor(client: EngineClient) -> None:
    await ask(client, question(max_tokens=1))
    loop = asyncio.get_running_loop()
    began: list[float] = []

    async def cancel() -> None:
        began.append(loop.time())
        await client.cancel()

    # A cancel from inside the iteration would wait for events that only this iteration takes: let it run beside.
    tasks: list[asyncio.Task[None]] = []
    seen = await until_text(client, lambda: tasks.append(asyncio.create_task(cancel())))
    await tasks[0]
    assert loop.time() - began[0] < 2, "answered, not killed"
    finished = seen[-1]
    assert isinstance(finished, Finished)
    assert finished.finish_reason == "cancelled"
    assert 0 < finished.stats.output_tokens < 400
    assert finished.text
    assert client.running
    before = os.times()
    assert await idle(client.pid or 0), f"the engine still works {before}"


async def test_a_cancel_during_prefill_and_during_load(client: EngineClient) -> None:
    client.wanted = client.wanted and client.wanted.model_copy(update={"context": 8192})
    long = question("word " * 5000, max_tokens=50)
    tasks: list[asyncio.Task[None]] = []
    for stage in (Loading, Prefilling):
        last: Event | None = None
        async with contextlib.aclosing(client.generate(long)) as events:
            async for event in events:
                last = event
                if isinstance(event, stage) and not (tasks and not tasks[-1].done()):
                    tasks.append(asyncio.create_task(client.cancel()))
        await asyncio.gather(*tasks)
        assert isinstance(last, (Finished, Failed))
        if isinstance(last, Finished):
            assert last.finish_reason == "cancelled"
            assert last.token_ids == ()
        else:
            assert last.code is ErrorCode.CANCELLED
    assert isinstance(await ask(client, question(max_tokens=3)), Finished)


async def test_closing_the_iterator_early_leaves_an_idle_engine(client: EngineClient) -> None:
    async with contextlib.aclosing(client.generate(question())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert client.running
    again = await ask(client, question(max_tokens=3))
    assert isinstance(again, Finished)


async def test_sends_and_cancels_at_random_moments(client: EngineClient) -> None:
    rng = random.Random(5)
    await ask(client, question(max_tokens=1))
    pid = client.pid
    for turn in range(25):
        task = asyncio.create_task(ask(client, question(f"Story {turn}.", seed=turn)))
        await asyncio.sleep(rng.uniform(0.0, 0.12))  # the moment is what is tried here
        await client.cancel()
        last = await task
        assert isinstance(last, Finished), last
        assert last.finish_reason == "cancelled"
    assert client.pid == pid, "no cancel had to kill the engine"
    whole = await ask(client, question(max_tokens=20, seed=1))
    other = EngineClient(client.log_path.with_name("other.log"))
    other.wanted = client.wanted
    fresh = await ask(other, question(max_tokens=20, seed=1))
    await other.close()
    assert isinstance(whole, Finished)
    assert isinstance(fresh, Finished)
    assert whole.token_ids == fresh.token_ids


async def test_end_of_file_ends_the_engine_in_mid_answer(client: EngineClient) -> None:
    async with contextlib.aclosing(client.generate(question())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                process = client._engine._process
                assert process is not None
                assert process.stdin is not None
                process.stdin.close()
                async with asyncio.timeout(2):
                    await process.wait()
                break
    assert not client.running


async def test_close_leaves_no_process(client: EngineClient) -> None:
    await ask(client, question(max_tokens=2))
    pid = client.pid
    assert pid is not None
    assert alive(pid)
    await client.close()
    assert not alive(pid)
