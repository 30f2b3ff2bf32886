"""What tests do on the Chats screen."""

from __future__ import annotations

from app.chats.store import ChatStore
from app.tui.screens.chat import ChatScreen
from app.tui.screens.chats import ChatsScreen
from app.tui.widgets.notice import NoticeLine
from tests.app.tui.harness import Chat


async def opened(it: Chat) -> ChatsScreen:
    """The Chats screen, with its list."""
    await it.pilot.press("ctrl+o")
    await it.until(lambda: isinstance(it.app.screen, ChatsScreen), "the screen")
    screen = it.app.screen
    assert isinstance(screen, ChatsScreen)
    await it.until(lambda: "chat" in it.lines[0].removeprefix(" chats"), "the list")
    return screen


async def move_to(it: Chat, screen: ChatsScreen, title: str) -> None:
    await it.pilot.press("home")
    for _ in range(30):
        if screen.chat is not None and screen.chat.title.startswith(title):
            return
        await it.pilot.press("down")
    raise AssertionError(f"no chat {title}")


def notice(screen: ChatsScreen) -> str:
    return screen.query_one(NoticeLine).text


def titles(store: ChatStore) -> list[str]:
    return [chat.title for chat in store.conversations()]


async def left(it: Chat) -> None:
    await it.until(lambda: isinstance(it.app.screen, ChatScreen), "the chat")
