"""What is shown of a chat before it is opened: its last turns, or the message that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.chats.matching import first_place
from app.chats.records import Conversation, Message
from app.tui.names import speaker_name

if TYPE_CHECKING:
    from app.chats.store import ChatStore

TURNS: Final = 4
LONGEST: Final = 4000
"""Characters of a turn that are looked at; no pane shows more."""
BEFORE: Final = 300
"""Characters of a found message in front of the place."""
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn, or the part of it that matters."""

    speaker: str
    text: str
    own: bool
    """Said by the user."""
    begun: bool = True
    """The text starts where the turn starts."""


@dataclass(frozen=True, slots=True)
class Glance:
    """See the module's text."""

    chat: Conversation
    messages: int
    """How many there are, in all branches."""
    turns: tuple[Spoken, ...]
    found: bool = False
    """The turn is what was searched for."""


def glance(store: ChatStore, chat: Conversation, message_id: int | None, words: tuple[str, ...]) -> Glance:
    """Look at ``chat``; ``message_id`` and ``words``: what was found in it."""
    number = store.count_messages(chat.id)
    found = store.message(message_id) if message_id is not None else None
    if found is not None:
        at = max(0, first_place(found.content, words) - BEFORE)
        text = found.content[at : at + LONGEST]
        return Glance(chat, number, (_spoken(found, speakers(store, (found,)), text, begun=at == 0),), found=True)
    said = [message for message in store.peek(chat.id, last=TURNS) if message.role != "system"]
    who = speakers(store, said)
    return Glance(chat, number, tuple(_spoken(message, who, message.content[:LONGEST]) for message in said))


def speakers(store: ChatStore, messages: Sequence[Message]) -> dict[int, str]:
    """Which model gave each of the answers, as far as the store knows."""
    answers = [message.id for message in messages if message.role == "assistant"]
    names = {}
    for number, figures in store.figures(answers).items():
        receipt = figures.receipt()
        if receipt is not None:
            names[number] = speaker_name(receipt.target)
    return names


def _spoken(message: Message, who: dict[int, str], text: str, *, begun: bool = True) -> Spoken:
    own = message.role == "user"
    return Spoken("you" if own else who.get(message.id, ANSWER), text, own, begun)
