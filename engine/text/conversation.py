"""Changes to a conversation that some chat templates insist on. Each returns a new list."""

from __future__ import annotations

from collections.abc import Sequence

from engine.protocol import Message

PARAGRAPH = "\n\n"


def has_system(messages: Sequence[Message]) -> bool:
    """Whether a conversation in tidy order starts with a system message."""
    return bool(messages) and messages[0].role == "system"


def one_system_first(messages: Sequence[Message]) -> list[Message]:
    """All system messages as one, in front: many templates accept no other place and no second one."""
    system = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    return [Message(role="system", content=PARAGRAPH.join(system)), *others] if system else others


def folded(messages: Sequence[Message]) -> list[Message]:
    """The system text at the head of the first user message, for templates without a system role."""
    if not has_system(messages):
        return list(messages)
    system, others = messages[0].content, list(messages[1:])
    if not system.strip():
        return others
    first = next((index for index, message in enumerate(others) if message.role == "user"), None)
    if first is None:
        return [Message(role="user", content=system), *others]
    others[first] = Message(role="user", content=system + PARAGRAPH + others[first].content)
    return others


def alternating(messages: Sequence[Message]) -> list[Message]:
    """Neighbouring messages of one role as one, a blank line between them."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(role=message.role, content=turns[-1].content + PARAGRAPH + message.content)
        else:
            turns.append(message)
    return turns
