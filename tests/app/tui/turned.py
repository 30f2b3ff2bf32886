"""What tests do with variants: press a key and wait, and look at what was said and kept."""

from __future__ import annotations

from tests.app.tui.fake_client import FakeClient
from tests.app.tui.harness import Chat

EDITING = "editing: enter sends it as a new branch, esc leaves it"


def said(client: FakeClient, at: int = -1) -> list[str]:
    """The messages of a request."""
    return [message.content for message in client.asked[at].messages]


def all_messages(it: Chat) -> list[str]:
    """What the store holds of the chat, all branches, oldest first."""
    store, found = it.screen.store, []
    chat = it.screen.chat.conversation.id
    todo = [message for root in store.path(chat)[:1] for message in store.siblings(root.id)]
    while todo:
        found += todo
        todo = [child for message in todo for child in store.children(message.id)]
    return [message.content for message in sorted(found, key=lambda message: message.id)]


async def press(it: Chat, *keys: str) -> None:
    """Press keys and wait for the answer that they ask for."""
    before = len(it.client.asked)
    await it.pilot.press(*keys)
    await it.until(lambda: len(it.client.asked) > before and it.idle, f"an answer after {keys}")
