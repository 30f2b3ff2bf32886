"""The chat under Textual's Pilot, with waits on conditions instead of sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.css.query import NoMatches
from textual.pilot import Pilot

from app.chats.store import ChatStore, open_chats
from app.tui.app import SlipstreamApp
from app.tui.screens.chat import ChatScreen
from app.tui.widgets.composer import Composer
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.transcript import Transcript
from app.tui.widgets.turns import AnswerTurn, UserTurn
from engine.protocol import LoadSettings
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.fake_shelf import FakeShelf

PATIENCE = 60.0
"""Seconds, for a machine that has much else to do: what comes ends the wait at once."""


def memory_store() -> ChatStore:
    return open_chats(None, lambda notice: None)


def _holds(condition: Callable[[], object]) -> object:
    try:
        return condition()
    except NoMatches:  # of a screen that is being made
        return False


class Chat:
    """What a test does and sees."""

    def __init__(self, app: SlipstreamApp, pilot: Pilot[None], client: FakeClient) -> None:
        self.app, self.pilot, self.client = app, pilot, client

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until ``condition()`` holds."""
        try:
            async with asyncio.timeout(PATIENCE):
                # Not with Pilot's pause: it wants every widget to answer, and an idle process.
                while not _holds(condition):  # noqa: ASYNC110 - what is waited for has no event of its own
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"never came: {what or condition}\n{self.shown}") from None
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        """Wait until all ``texts`` are on screen."""
        await self.until(lambda: all(text in self.shown or text in self.words for text in texts), f"{texts}")

    async def settle(self) -> None:
        """Wait until two looks at the screen are the same."""
        before = None
        while before != self.lines:
            before = self.lines
            await self.pilot.pause(0.15)

    async def send(self, text: str) -> None:
        """Type (at once) and press enter."""
        self.composer.text = text
        self.composer.move_cursor(self.composer.document.end)
        await self.pilot.press("enter")

    async def ask(self, text: str) -> None:
        """Send and wait for the end of the answer."""
        before = len(self.answers)
        await self.send(text)
        await self.until(lambda: len(self.answers) > before and self.idle, f"an answer to {text!r}")

    @property
    def screen(self) -> ChatScreen:
        screen = self.app.chat_screen
        assert screen is not None
        return screen

    @property
    def idle(self) -> bool:
        return self.screen.dialogue.live is None

    @property
    def composer(self) -> Composer:
        return self.screen.query_one(Composer)

    @property
    def transcript(self) -> Transcript:
        return self.screen.query_one(Transcript)

    @property
    def notice(self) -> str:
        return self.screen.query_one(NoticeLine).text

    @property
    def questions(self) -> list[str]:
        return [turn.turn.text for turn in self.screen.query(UserTurn)]

    @property
    def answers(self) -> list[AnswerTurn]:
        return list(self.screen.query(AnswerTurn))

    @property
    def stored(self) -> list[tuple[str, str, str]]:
        """Role, state and text of every message of the chat, as the store has them."""
        path = self.screen.store.path(self.screen.chat.conversation.id)
        return [(message.role, message.state, message.content) for message in path]

    @property
    def lines(self) -> list[str]:
        """The screen as text."""
        return ["".join(segment.text for segment in strip) for strip in self.app.screen._compositor.render_strips()]

    @property
    def shown(self) -> str:
        return "\n".join(self.lines)

    @property
    def words(self) -> str:
        """The screen's words, wherever the lines break."""
        return " ".join(self.shown.split())

    @property
    def footer(self) -> str:
        return self.lines[-1]


@asynccontextmanager
async def chat(
    client: FakeClient | None = None,
    *,
    size: tuple[int, int] = (110, 34),
    store: ChatStore | None = None,
    load: LoadSettings | None = LOAD,
    loaded: bool = True,
    shelf: FakeShelf | None = None,
    **options: Any,
) -> AsyncIterator[Chat]:
    """A running chat; ``loaded``: wait until the model is there. ``shelf``: what ctrl+l shows."""
    client = client or FakeClient()
    if shelf is not None:
        options["library"] = lambda: shelf
    app = SlipstreamApp(client, load, store or memory_store(), **options)
    async with app.run_test(size=size) as pilot:
        it = Chat(app, pilot, client)
        await it.until(lambda: it.screen.opened, "the screen")
        if loaded and load is not None:
            await it.until(lambda: not it.screen.answering.state.is_loading, "the model")
        yield it


async def replies(it: Chat, typed: str, *words: str) -> None:
    """Type a command: it is answered in ``words``, and nothing is asked of the model."""
    await it.send(typed)
    await it.sees(*words)
    assert it.idle
    assert not it.questions
