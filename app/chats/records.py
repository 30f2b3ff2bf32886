"""What the store hands out: plain frozen records, and the words for what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from app.json_text import parsed

if TYPE_CHECKING:  # pydantic costs more to import than the whole store; it is needed only to read figures
    from engine.protocol import Receipt
    from engine.stats import Stats

Role = Literal["system", "user", "assistant"]

MessageState = Literal["complete", "writing", "interrupted", "cancelled", "failed"]
"""``writing``: an instance is receiving this answer now. ``interrupted``: the instance that received it is gone.
``cancelled``: the user stopped it. ``failed``: the engine could not finish it, :attr:`Message.error` says why."""


class StoreError(Exception):
    """Something the store could not do; ``str(error)`` is a sentence for people."""


class NewerStoreError(StoreError):
    """The store was written by a newer Slipstream; it was left as it is."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person in front of the screen has to know about their chats."""

    text: str
    severity: Literal["information", "warning", "error"] = "warning"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line of the list of chats."""

    id: int
    title: str
    created: float
    """Unix time in seconds, like every time in the store."""
    updated: float
    leaf: int | None
    """The last message of the branch that is shown; None: nothing has been said yet."""
    pinned: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    """What this chat does otherwise than ``settings.toml`` says; the store does not look inside."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. The text is what was said; whoever shows it cleans it."""

    id: int
    conversation: int
    parent: int | None
    role: Role
    content: str
    state: MessageState
    error: str | None
    created: float
    finished: float | None
    """When the answer ended; None while it is being written, and for one that was interrupted."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chat that a search has found."""

    conversation: Conversation
    message: int | None
    """The newest message that says all the words; None: only the title does."""
    snippet: str
    """One line of that message around the first word, not cleaned."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file as it was when it was attached to a message."""

    path: str
    """As the user named it."""
    place: str
    """Where it is on this disk: the absolute path."""
    sha256: str
    size: int
    """Bytes, like the hash those of the file itself."""
    modified: float
    packed: bytes
    """The text as UTF-8, compressed by zlib."""
    id: int = 0

    @property
    def text(self) -> str:
        import zlib  # few chats have attachments

        return zlib.decompress(self.packed).decode("utf-8")


@dataclass(frozen=True, slots=True)
class Unsent:
    """What stands in the composer: typed text, and large pastes by their number."""

    parts: tuple[str | int, ...] = ()
    pastes: Mapping[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pastes[part] if isinstance(part, int) else part for part in self.parts)

    def above(self, other: Unsent) -> Unsent:
        """Both texts, ``other`` on a line of its own below."""
        if not self.parts or not other.parts:
            return self if self.parts else other
        clash = any(self.pastes.get(number, paste) != paste for number, paste in other.pastes.items())
        shift = max(self.pastes, default=0) if clash else 0
        below = tuple(part + shift if isinstance(part, int) else part for part in other.parts)
        pastes = {number + shift: paste for number, paste in other.pastes.items()}
        return Unsent((*self.parts, "\n", *below), {**self.pastes, **pastes})


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted while an answer was made, and what is needed to check it. Kept as JSON and read on demand."""

    message: int
    finish_reason: str
    token_ids: tuple[int, ...]
    sources: str
    stats_json: str
    receipt_json: str | None

    def stats(self) -> Stats | None:
        """The figures; None when they were written by a version whose format this one cannot read."""
        from engine.stats import Stats

        try:
            return Stats.model_validate_json(self.stats_json)
        except ValueError:
            return None

    def receipt(self) -> Receipt | None:
        """The receipt; None when there is none, or a version's that this one cannot read (the JSON is kept)."""
        from engine.protocol import Receipt

        if self.receipt_json is None:
            return None
        try:
            return Receipt.model_validate_json(self.receipt_json)
        except ValueError:
            return None


def settings_from_json(text: str) -> Mapping[str, object]:
    """A chat's own settings; an unreadable entry counts as none."""
    try:
        settings = parsed(text)
    except ValueError:
        return {}
    return settings if isinstance(settings, dict) else {}
