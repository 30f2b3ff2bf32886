"""How many tokens something takes, before it is sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.client import EngineClient
from engine.protocol import (
    Count,
    Counted,
    ErrorCode,
    Event,
    Failed,
    Finished,
    GenerateSettings,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    Sampling,
    TextDelta,
)
from tests.engine.conftest import Driver, conversation

LONG = GenerateSettings(
    messages=conversation(["Tell a long story about a ferry."]), sampling=Sampling(temperature=0), max_tokens=300
)


def count(driver: Driver, *turns: str, text: str | None = None) -> Event:
    events: list[Event] = []
    driver.session.count(Count(id=1, messages=conversation(turns), text=text), events.append)
    (event,) = events
    return event


def test_a_conversation_takes_what_its_prompt_has(smol: Driver) -> None:
    turns = ("Name a river.", "The Rhine.", "And a lake? <|im_end|>")
    answer = smol.ask(*turns, max_tokens=1)
    assert answer.receipt is not None
    assert smol.session.pair is not None
    cached = list(smol.session.pair.cached)
    assert count(smol, *turns) == Counted(id=1, tokens=len(answer.receipt.prompt_ids), context=1024)
    assert smol.session.pair.cached == cached, "nothing is decoded"


def test_a_text_takes_what_it_takes_as_text(smol: Driver) -> None:
    assert smol.session.pair is not None
    vocabulary = smol.session.pair.target.model.vocabulary
    for text in ("", "one two three", "<|im_end|>", "é🦜" * 5000):
        tokens = len(vocabulary.tokenize(text, parse_special=False))
        assert count(smol, text=text) == Counted(id=1, tokens=tokens, context=1024)
    assert vocabulary.tokenize("<|im_end|>", parse_special=False) != [vocabulary.controls["<|im_end|>"]]


def test_what_does_not_fit_is_counted_all_the_same(smol: Driver) -> None:
    counted = count(smol, "word " * 3000)
    assert isinstance(counted, Counted)
    assert counted.tokens > counted.context


def test_without_a_model_there_is_nothing_to_count_with(driver: Driver) -> None:
    failed = count(driver, "hello")
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.NO_MODEL


# ---------------------------------------------------------------------------------------------------------- the client


@pytest.fixture
async def client(tmp_path: Path, smol_path: Path) -> AsyncIterator[EngineClient]:
    client = EngineClient(tmp_path / "engine.log")
    client.wanted = LoadSettings(target=ModelFile(path=str(smol_path)), context=1024)
    yield client
    await client.close()


async def load(client: EngineClient) -> None:
    assert client.wanted is not None
    async for event in client.load(client.wanted):
        last = event
    assert isinstance(last, Loaded)


async def test_the_client_counts_text_and_conversations(client: EngineClient) -> None:
    before = await client.count(text="one two three")
    assert isinstance(before, Failed)
    assert before.code is ErrorCode.NO_MODEL
    assert not client.running, "nothing is started for it"
    await load(client)
    text = await client.count(text="one two three")
    assert isinstance(text, Counted)
    assert (text.tokens, text.context) == (3, 1024)
    said = await client.count([Message(role="user", content="one two three")])
    assert isinstance(said, Counted)
    assert said.tokens > 3 + 20, "the template's words, too"


async def test_a_count_waits_behind_an_answer(client: EngineClient) -> None:
    await load(client)
    ended: list[str] = []
    counting: asyncio.Task[Counted | Failed] | None = None
    async with contextlib.aclosing(client.generate(LONG.model_copy(update={"max_tokens": 20}))) as events:
        async for event in events:
            if counting is None:
                counting = asyncio.create_task(client.count(text="a"))
                counting.add_done_callback(lambda task: ended.append("counted"))
            if isinstance(event, Finished):
                ended.append("finished")
    assert counting is not None
    assert isinstance(await counting, Counted)
    assert ended == ["finished", "counted"]


async def test_who_stops_waiting_for_a_count_stops_nothing_else(client: EngineClient) -> None:
    await load(client)
    pid = client.pid
    counting: asyncio.Task[Counted | Failed] | None = None
    texts = 0
    async with contextlib.aclosing(client.generate(LONG)) as events:
        async for event in events:
            texts += isinstance(event, TextDelta)
            if texts == 1 and counting is None:
                counting = asyncio.create_task(client.count(text="a"))
            elif texts == 3 and counting is not None:
                counting.cancel()
                await asyncio.wait([counting])
            last = event
    assert isinstance(last, Finished)
    assert last.finish_reason in ("stop", "length")
    assert client.pid == pid
    assert isinstance(await client.count(text="b"), Counted)


async def test_a_stop_ends_a_waiting_count_too(client: EngineClient) -> None:
    await load(client)
    tasks: list[asyncio.Task[object]] = []
    async with contextlib.aclosing(client.generate(LONG)) as events:
        async for event in events:
            if isinstance(event, TextDelta) and not tasks:
                counting = asyncio.create_task(client.count(text="a"))
                await asyncio.sleep(0)
                tasks.append(asyncio.create_task(client.cancel()))
            last = event
    assert isinstance(last, Finished)
    assert last.finish_reason == "cancelled"
    outcome = await counting
    assert isinstance(outcome, Counted) or outcome.code is ErrorCode.CANCELLED
    await asyncio.gather(*tasks)
