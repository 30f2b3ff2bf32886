"""Answers of the real engine in a store, as the chat puts them there."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from app.chats.store import open_chats
from engine.client import EngineClient
from engine.protocol import ExactnessMode, Finished, GenerateSettings, LoadSettings, Message, ModelFile, Sampling

PROMPT = "Repeat this list twice: apple, pear, plum, apple, pear, plum."

Slipstream = Callable[..., subprocess.CompletedProcess[str]]


def answered(
    home: Path, model: Path, *, mode: ExactnessMode, answers: int = 3, prompt: str = PROMPT, tokens: int = 24
) -> list[int]:
    """A chat of several turns in the store, made by the engine itself; returns the answers' numbers."""
    home.mkdir(exist_ok=True)
    store = open_chats(home / "chats.sqlite", lambda notice: None)
    client = EngineClient(home / "engine.log")
    numbers = []

    async def talk() -> None:
        client.wanted = LoadSettings(target=ModelFile(path=str(model)), context=1024, mode=mode)
        chat = store.create_conversation()
        said: list[Message] = []
        parent = None
        for turn in range(answers):
            said.append(Message(role="user", content=prompt))
            parent = store.append_user(chat.id, prompt, parent=parent).id
            answer = store.start_answer(chat.id, parent=parent)
            sampling = Sampling(temperature=0.8 if turn % 2 else 0.0)
            wanted = GenerateSettings(
                messages=tuple(said), speculation="lookup", max_tokens=tokens, sampling=sampling, seed=turn
            )
            async with aclosing(client.generate(wanted)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        store.finish_answer(answer.id, event)
                        said.append(Message(role="assistant", content=event.text))
            parent = answer.id
            numbers.append(answer.id)
        await client.close()

    asyncio.run(talk())
    store.close()
    return numbers


def many_answers(home: Path, model: Path, *, mode: ExactnessMode, answers: int) -> list[int]:
    """Chats of two turns, twelve tokens an answer, by off, lookup and auto in turn, at two temperatures; returns the
    answers' numbers. The cache goes from answer to answer, as in the chat."""
    home.mkdir(exist_ok=True)
    store = open_chats(home / "chats.sqlite", lambda notice: None)
    client = EngineClient(home / "engine.log")
    numbers = []

    async def turn(said: list[Message], number: int) -> Finished:
        wanted = GenerateSettings(
            messages=tuple(said),
            speculation=("off", "lookup", "auto")[number % 3],
            max_tokens=12,
            sampling=Sampling(temperature=(0.0, 0.8)[number % 2]),
        )
        async with aclosing(client.generate(wanted)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event
        raise AssertionError("no end")

    async def talk() -> None:
        client.wanted = LoadSettings(target=ModelFile(path=str(model)), context=1024, mode=mode)
        for number in range(answers):
            if number % 2 == 0:
                chat, parent, said = store.create_conversation(), None, list[Message]()
            said.append(Message(role="user", content=f"Again: apple, pear, {number}, apple, pear,"))
            question = store.append_user(chat.id, said[-1].content, parent=parent)
            answer = store.start_answer(chat.id, parent=question.id)
            finished = await turn(said, number)
            store.finish_answer(answer.id, finished)
            said.append(Message(role="assistant", content=finished.text))
            parent = answer.id
            numbers.append(answer.id)
        await client.close()

    asyncio.run(talk())
    store.close()
    return numbers
