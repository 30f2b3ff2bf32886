"""A chat as a text: Markdown to read and to pass on, JSON with everything that was counted. Pure functions.

What was said stays as it was said, letter by letter. In Markdown only a code block or an HTML block that a message
leaves open is closed behind it, or it would swallow the turns that follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from app import __version__, receipt
from app.chats.records import Conversation, Figures, Message
from app.clean import clean_line
from app.json_text import parsed

FORMAT: Final = "slipstream-chat"
FORMAT_VERSION: Final = 1
YOU: Final = "you"
ANSWER: Final = "answer"
"""Who speaks where the store does not know."""

_STATES: Final = {
    "writing": "This answer was still being written.",
    "interrupted": "Interrupted: Slipstream ended before the answer did.",
    "cancelled": "Stopped.",
}
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#&|~])")
_OPENERS: Final = ("```", "~~~", "<")
_END: Final = "end-of-the-message"
_NUMBERS: Final = re.compile(r"\[\n\s+(-?\d+(?:,\n\s+-?\d+)*)\n\s+\]")


class Attached(Protocol):
    """A text file that went along with a message, as it was then."""

    @property
    def path(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def modified(self) -> float: ...

    @property
    def text(self) -> str: ...


Attachments = Mapping[int, Sequence[Attached]]
"""Message -> what was attached to it."""


def to_markdown(
    chat: Conversation,
    messages: Sequence[Message],
    figures: Mapping[int, Figures],
    *,
    speakers: Mapping[int, str] | None = None,
    system: str = "",
    attachments: Attachments | None = None,
) -> str:
    """The turns of one branch, each under a heading with speaker and time (local), answers with their receipt line,
    attachments by path, hash and time. ``speakers``: answer -> name of the model."""
    parts = [f"# {_escaped(chat.title)}", _about(chat, messages)]
    if system.strip():
        parts += ["## system", closed(system)]
    for message in messages:
        parts.append(f"## {_escaped(_speaker(message, speakers or {}))} · {_local(message.created)}")
        if message.content.strip():
            parts.append(closed(message.content))
        if attached := (attachments or {}).get(message.id):
            parts.append("\n".join(map(_attached, attached)))
        parts += _below(message, figures.get(message.id))
    return "\n\n".join(parts) + "\n"


def to_json(
    chat: Conversation,
    messages: Sequence[Message],
    figures: Mapping[int, Figures],
    *,
    shown: Sequence[Message],
    system: str = "",
    attachments: Attachments | None = None,
) -> str:
    """Every message with state, times (UTC), figures, receipt and attachments. ``messages`` may be those of all
    branches; ``shown`` is the one on screen. Ids are strings: they are larger than what JavaScript counts exactly."""
    content = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "written_by": f"Slipstream {__version__}",
        "title": chat.title,
        "created": _utc(chat.created),
        "updated": _utc(chat.updated),
        "settings": dict(chat.settings),
        "system": system or None,
        "shown": [str(message.id) for message in shown],
        "messages": [
            _message(message, figures.get(message.id), (attachments or {}).get(message.id, ())) for message in messages
        ],
    }
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    return _NUMBERS.sub(lambda match: f"[{' '.join(match[1].split())}]", text)


def closed(text: str) -> str:
    """``text`` with an end for the code fence or HTML block that it leaves open."""
    text = text.strip("\n")
    if not any(opener in text for opener in _OPENERS):
        return text
    from markdown_it import MarkdownIt  # what Textual draws Markdown with

    last = MarkdownIt("commonmark").parse(f"{text}\n\n{_END}")[-1]
    if _END not in last.content:
        return text
    if last.type == "fence":
        return f"{text}\n{last.markup}"
    return f"{text}\n{_html_end(last.content)}"


# ---------------------------------------------------------------------------------------------------- Markdown


def _about(chat: Conversation, messages: Sequence[Message]) -> str:
    number = len(messages)
    said = f"{number} message{'s' * (number != 1)}"
    return f"Slipstream {__version__}, {said}, begun {_local(chat.created)}, last changed {_local(chat.updated)}"


def _speaker(message: Message, speakers: Mapping[int, str]) -> str:
    if message.role == "assistant":
        return speakers.get(message.id) or ANSWER
    return YOU if message.role == "user" else message.role


def _below(message: Message, figures: Figures | None) -> list[str]:
    """What there is to say about an answer: how it ended, and its receipt."""
    parts = []
    if message.state == "failed":
        parts.append(f"> Failed: {_escaped(clean_line(message.error or 'the answer failed', 1000))}")
    elif message.state in _STATES:
        parts.append(f"> {_STATES[message.state]}")
    if figures is None:
        return parts
    stats, proof = figures.stats(), figures.receipt()
    if stats is not None and stats.output_tokens:
        parts.append(f"`{receipt.line_of(stats, proof)}`")
    notes = [f"> {_escaped(clean_line(note, 1000))}" for note in receipt.notes(proof)] if proof else []
    if notes:
        parts.append("  \n".join(notes))
    return parts


def _attached(one: Attached) -> str:
    return f"- attached: {_escaped(one.path)}, SHA-256 {one.sha256}, of {_local(one.modified)}"


def _html_end(block: str) -> str:
    opening = block.lstrip().lower()
    for start, end in (("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">")):
        if opening.startswith(start):
            return end
    name = re.match(r"<(\w+)", opening)
    return f"</{name[1]}>" if name else ""


def _escaped(text: str) -> str:
    """One line in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", clean_line(text, 1000))


def _local(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M")


# -------------------------------------------------------------------------------------------------------- JSON


def _message(message: Message, figures: Figures | None, attached: Sequence[Attached]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": str(message.id),
        "parent": None if message.parent is None else str(message.parent),
        "role": message.role,
        "state": message.state,
        "created": _utc(message.created),
        "finished": None if message.finished is None else _utc(message.finished),
        "content": message.content,
    }
    if message.error:
        found["error"] = message.error
    if attached:
        found["attachments"] = [
            {"path": one.path, "sha256": one.sha256, "modified": _utc(one.modified), "text": one.text}
            for one in attached
        ]
    if figures is not None:
        found["figures"] = {
            "finish_reason": figures.finish_reason,
            "token_ids": figures.token_ids,
            "sources": figures.sources,
            "stats": _parsed(figures.stats_json),
            "receipt": _parsed(figures.receipt_json),
        }
    return found


def _parsed(text: str | None) -> Any:
    """JSON as it was stored; what cannot be read stays a text."""
    try:
        return None if text is None else parsed(text)
    except ValueError:
        return text


def _utc(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
