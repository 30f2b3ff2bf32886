"""Every sheet and every list that opens over the chat, and how it is opened: for tests at many sizes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from engine.protocol import ErrorCode, Loaded, Outgrown
from tests.app.tui.fake_client import FakeClient, Step, answer, failure, pair, receipt
from tests.app.tui.fake_shelf import MISTRAL, QWEN, FakeShelf
from tests.app.tui.harness import Chat, chat
from tests.app.tui.models_screen import move_to, opened
from tests.app.tui.test_compare_screen import begun, comparison
from tests.app.tui.test_score_screen import scoring
from tests.app.tui.test_ways_screen import chooser

OUTGROWN: Final = Outgrown(tokens=2500, context=2048, dropped=2, left=900)
TOO_LARGE: Final = failure(ErrorCode.PROMPT_TOO_LARGE, "It does not fit.").model_copy(update={"outgrown": OUTGROWN})


def asked_first() -> list[Sequence[Step]]:
    return [answer("The Danube, the Rhine and the Volga.", proof=receipt())]


class Sheet(NamedTuple):
    """One of them."""

    open: Callable[[Chat], Awaitable[object]]
    scripts: Callable[[], Sequence[Sequence[Step]]] = asked_first
    ask: bool = True
    """Whether something was asked and answered before."""


def keys(*names: str) -> Callable[[Chat], Awaitable[object]]:
    async def press(it: Chat) -> None:
        await it.pilot.press(*names)

    return press


async def question(it: Chat) -> None:
    await it.send("a very long text")
    await it.until(lambda: it.screen.overflowing.asking, "the question")


async def plan(it: Chat) -> None:
    await move_to(it, await opened(it), QWEN)
    await it.pilot.press("enter")
    await it.sees("Fetch 3.1 GB?")


async def compared(it: Chat) -> None:
    await begun(it)
    await it.until(lambda: "done, 3 runs" in it.shown)


async def ways(it: Chat) -> None:
    await compared(it)
    await chooser(it)


async def card(it: Chat) -> None:
    await move_to(it, await opened(it), MISTRAL)
    await scoring(it)


async def replay(it: Chat) -> None:
    await it.send("/replay")


async def context(it: Chat) -> None:
    await it.send("/context")
    await it.until(lambda: it.screen.overflowing.asking, "the question")


def runs() -> Sequence[Sequence[Step]]:
    return comparison(2.41, 1.62)


SHEETS: Final = {
    "help": Sheet(keys("f1")),
    "settings": Sheet(keys("f2")),
    "settings choice": Sheet(keys("f2", "enter")),
    "settings value": Sheet(keys("f2", "down", "down", "down", "down", "enter")),
    "speculation": Sheet(keys("ctrl+t")),
    "context question": Sheet(question, lambda: [*asked_first(), [TOO_LARGE]]),
    "context": Sheet(context),
    "chats": Sheet(keys("ctrl+o")),
    "chats export": Sheet(keys("ctrl+o", "e")),
    "models": Sheet(opened),
    "plan": Sheet(plan),
    "receipt": Sheet(keys("alt+up", "i")),
    "compare": Sheet(compared, runs, ask=False),
    "ways": Sheet(ways, runs, ask=False),
    "score": Sheet(card),
    "palette": Sheet(keys("ctrl+p")),
}


@asynccontextmanager
async def sheet(name: str, size: tuple[int, int]) -> AsyncIterator[Chat]:
    """The chat with that sheet open, and what it shows has come to rest."""
    one = SHEETS[name]
    client = FakeClient([*one.scripts()], loads=[[Loaded(id=0, pair=pair(context=2048))]])
    async with chat(client, shelf=FakeShelf(), size=size) as it:
        if one.ask:
            await it.ask("Name three rivers in Europe.")
        await one.open(it)
        await it.settle()
        yield it
