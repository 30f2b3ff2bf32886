"""A conversation that does not fit the context, and the question what to do about it."""

from __future__ import annotations

from app.tui.widgets.overflow_picker import OverflowPicker
from engine.protocol import ErrorCode, Loaded, Outgrown
from tests.app.tui.fake_client import (
    FakeClient,
    Step,
    failure,
    pair,
)
from tests.app.tui.harness import Chat

HEADING = "2,500 tokens do not fit into the context of 2,048"
NOTHING_SENT = f"Nothing was sent: {HEADING}; your message is in the composer."
SENTENCE = "The conversation is 2,500 tokens long and the context holds 2,048. Nothing was sent or lost."
DROP = "drop the oldest turns"
LARGER = "larger context"
DROPPING = "Whenever this chat is full, its oldest turns are left out from now on; /overflow ask asks again."


def too_large(*, dropped: int = 2, left: int = 900) -> list[Step]:
    """What the engine answers."""
    outgrown = Outgrown(tokens=2500, context=2048, dropped=dropped, left=left)
    return [failure(ErrorCode.PROMPT_TOO_LARGE, SENTENCE).model_copy(update={"outgrown": outgrown})]


def client(*scripts: list[Step], context: int = 2048) -> FakeClient:
    return FakeClient(list(scripts), loads=[[Loaded(id=0, pair=pair(context=context))]])


async def asked(it: Chat, text: str = "a very long text") -> None:
    """Send a message that does not fit, and wait for the question."""
    await it.send(text)
    await question(it)


async def question(it: Chat) -> None:
    await it.until(lambda: it.screen.overflowing.asking and it.screen.query_one(OverflowPicker).display, "the question")


def unsent(it: Chat) -> str:
    return it.screen.store.unsent(it.screen.chat.conversation.id).text


async def choose(it: Chat, *keys: str) -> None:
    await it.pilot.press(*keys, "enter")
