"""Prompts for a benchmark: the bundled ones, or the user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.json_text import parsed
from app.library.data import shipped
from engine.protocol import Message

MOST_BYTES: Final = 64 * 1024 * 1024
UNSORTED: Final = "own"

_HALF: Final = re.compile("[\ud800-\udfff]")
"""What JSON can spell and no text can hold."""


class BadSuite(ValueError):
    """``str()`` is the sentence for people."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to answer: messages, or a prompt's tokens as a receipt has them."""

    id: str
    category: str
    messages: tuple[Message, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    where: str = ""
    """File and line that it comes from."""

    @property
    def name(self) -> str:
        """For sentences about it."""
        return self.where or f"Prompt {self.id}"


def bundled() -> list[Task]:
    """The program's own prompts: chat, code, edit, summarize, quote, translate, math, story."""
    return _read(shipped("assets", "prompts.jsonl").read_text("utf-8"), "prompts.jsonl")


def own(file: Path) -> list[Task]:
    """One JSON object a line: ``prompt`` (text) or ``messages`` (role and content), ``category`` and ``id`` if wanted.
    Raises BadSuite."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise BadSuite(f"{file} is larger than {MOST_BYTES >> 20} MiB.")
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise BadSuite(f"{file} cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise BadSuite(f"{file} is not UTF-8 text.") from error
    return _read(text, file.name)


def choose(tasks: Sequence[Task], categories: Sequence[str], each: int | None) -> list[Task]:
    """Those of the ``categories`` (none named: all), at most ``each`` of one category. Raises BadSuite."""
    known = list(dict.fromkeys(task.category for task in tasks))
    unknown = [category for category in categories if category not in known]
    if unknown:
        raise BadSuite(f"There is no category {unknown[0]!r}; there are {', '.join(known)}.")
    counts: dict[str, int] = {}
    chosen = []
    for task in tasks:
        counts[task.category] = counts.get(task.category, 0) + 1
        if (not categories or task.category in categories) and (each is None or counts[task.category] <= each):
            chosen.append(task)
    return chosen


def _read(text: str, name: str) -> list[Task]:
    tasks = [
        _task(line, f"{name}, line {number}", number)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    if not tasks:
        raise BadSuite(f"{name} holds no prompt.")
    return tasks


def _task(line: str, where: str, number: int) -> Task:
    try:
        found = parsed(line)
    except ValueError as error:
        raise BadSuite(f"{where}: no JSON object ({error}).") from error
    if not isinstance(found, dict):
        raise BadSuite(f"{where}: no JSON object.")
    names = found.get("id", number), found.get("category", UNSORTED)
    if not all(isinstance(name, (str, int, float)) for name in names):
        raise BadSuite(f'{where}: "id" and "category" must be texts.')
    task = Task(str(names[0]), str(names[1]), _messages(found, where), where=where)
    if _HALF.search("".join((task.id, task.category, *(message.content for message in task.messages)))):
        raise BadSuite(f"{where}: a text with half a character in it (\\ud800 to \\udfff without its other half).")
    return task


def _messages(found: dict[str, Any], where: str) -> tuple[Message, ...]:
    prompt, messages = found.get("prompt"), found.get("messages")
    if isinstance(prompt, str) and prompt.strip():
        return (Message(role="user", content=prompt),)
    if not isinstance(messages, list) or not messages:
        raise BadSuite(f'{where}: neither "prompt" (a text) nor "messages" (a list).')
    try:
        return tuple(Message.model_validate(message) for message in messages)
    except ValueError as error:
        raise BadSuite(f"{where}: a message needs a role (system, user, assistant) and a content.") from error
