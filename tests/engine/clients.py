"""What tests do with an engine process: ask it, act at its first text, look whether it is at work."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from engine.client import EngineClient
from engine.protocol import Event, GenerateSettings, Message, Sampling, TextDelta


def question(text: str = "Tell a long story about a ferry.", **settings: object) -> GenerateSettings:
    settings.setdefault("sampling", Sampling(temperature=0))
    settings.setdefault("max_tokens", 400)
    return GenerateSettings(messages=(Message(role="user", content=text),), **settings)  # type: ignore[arg-type]


async def ask(client: EngineClient, settings: GenerateSettings) -> Event:
    last: Event | None = None
    async with contextlib.aclosing(client.generate(settings)) as events:
        async for event in events:
            last = event
    assert last is not None
    return last


async def until_text(client: EngineClient, then: object, settings: GenerateSettings | None = None) -> list[Event]:
    """Run an answer and call ``then`` once at its first text."""
    seen: list[Event] = []
    acted = False
    async with contextlib.aclosing(client.generate(settings or question())) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, TextDelta) and event.text and not acted:
                acted = True
                result = then()  # type: ignore[operator]
                if asyncio.iscoroutine(result):
                    await result
    return seen


async def idle(pid: int) -> bool:
    """Whether the process stops using the processor (its clock ticks stand still for a while)."""
    for _ in range(40):
        first = ticks(pid)
        await asyncio.sleep(0.05)
        if ticks(pid) == first:
            return True
    return False


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
