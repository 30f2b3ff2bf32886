"""The chat in lines over a scripted engine: what is typed, and every character that is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from app.chats.store import ChatStore, open_chats
from app.plain.chat import PlainChat
from app.plain.lines import Lines
from engine.protocol import GenerateSettings, LoadSettings
from tests.app.tui.fake_client import LOAD, FakeClient
from tests.app.tui.fake_shelf import FakeShelf

PATIENCE = 15.0


class Talk:
    """What a test types and reads. ``out`` has answers and what was asked for, ``beside`` the rest (in a pipe)."""

    def __init__(self, chat: PlainChat, client: FakeClient, out: list[str], beside: list[str]) -> None:
        self.chat, self.client = chat, client
        self._out, self._beside = out, beside

    async def types(self, *texts: str) -> str:
        """Each is typed and done with. Returns what was written meanwhile."""
        before = len(self.out)
        for text in texts:
            await self.chat.take(text)
        return self.out[before:]

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until ``condition()`` holds."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition():  # noqa: ASYNC110
                    await asyncio.sleep(0.002)
        except TimeoutError:
            raise AssertionError(f"never came: {what or condition}\n{self.out}\n{self.beside}") from None

    @property
    def out(self) -> str:
        return "".join(self._out)

    @property
    def beside(self) -> str:
        return "".join(self._beside)

    @property
    def stored(self) -> list[tuple[str, str, str]]:
        """Role, state and text of every message of the chat, as the store has them."""
        path = self.chat.store.path(self.chat.chat.conversation.id)
        return [(message.role, message.state, message.content) for message in path]


@asynccontextmanager
async def talk(
    client: FakeClient | None = None,
    *,
    store: ChatStore | None = None,
    load: LoadSettings | None = LOAD,
    loaded: bool = True,
    piped: bool = False,
    shelf: FakeShelf | None = None,
    complaints: tuple[str, ...] = (),
    **options: Any,
) -> AsyncIterator[Talk]:
    """A chat in lines; ``loaded``: the model is there already. ``piped``: nobody types."""
    client = client or FakeClient()
    out: list[str] = []
    beside: list[str] = []
    lines = Lines(out.append, beside.append if piped else None)
    if shelf is not None:
        options["library"] = lambda: shelf
    chat = PlainChat(
        client,
        load,
        store or open_chats(None, lambda notice: lines.note(notice.text)),
        lines,
        interactive=not piped,
        defaults=options.pop("defaults", GenerateSettings(messages=())),
        no_model=complaints[-1] if complaints and load is None else "",
        **options,
    )
    worker = asyncio.create_task(chat.answering.work())
    chat.begin(complaints)
    it = Talk(chat, client, out, beside)
    if loaded and load is not None:
        await it.until(lambda: not chat.answering.state.is_loading, "the model")
    try:
        yield it
    finally:
        chat.dialogue.leave()
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
