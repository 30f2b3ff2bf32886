"""Thinking blocks in the text of an answer: what is thought, and what is said.

A block stands at the beginning of an answer, or right behind another one; the same markers further on are words like
any others (somebody explains them, say). White space around markers is layout and belongs to neither part; everything
else is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:  # the chat draws its first screen before pydantic is loaded
    from engine.protocol import ThoughtMarkers

Kind = Literal["thought", "said"]


class Part(NamedTuple):
    """A stretch of an answer."""

    kind: Kind
    text: str


class ThoughtSplitter:
    """Splits streamed text as soon as that can be decided: what may become a marker is held back.

    ``starts_inside``: the prompt has opened a block already (``starts_in_thought`` of the receipt).
    """

    def __init__(self, markers: Iterable[ThoughtMarkers], starts_inside: bool = False) -> None:
        self._markers = sorted(markers, key=lambda pair: len(pair.open), reverse=True)  # <thinking> before <think>
        self._closes = [pair.close for pair in self._markers] if starts_inside else []
        """What would end the block that is open now; none: no block is open."""
        self._said = not self._markers
        """Thoughts are over."""
        self._trim = starts_inside
        """White space that comes now is layout."""
        self._held = ""

    @property
    def inside(self) -> bool:
        """Whether a block is open now."""
        return bool(self._closes)

    def push(self, text: str) -> list[Part]:
        """More of the answer. Returns what is known now, in order."""
        self._held += text
        parts: list[Part] = []
        while (part := self._next()) is not None:
            parts.append(part)
        return _joined(parts)

    def finish(self) -> list[Part]:
        """The answer has ended (or stands still): what was held back is text after all."""
        held, self._held = self._held.lstrip() if self._trim else self._held, ""
        return _joined([Part("thought" if self.inside else "said", held)])

    def _next(self) -> Part | None:
        """One step through what is held; None when it takes more text to decide. A part may be empty."""
        if not self._held:
            return None
        if self._said:
            return self._take("said", len(self._held))
        return self._within() if self._closes else self._between()

    def _within(self) -> Part | None:
        """Inside a block: up to its end, or as far as that cannot have begun."""
        found = [(place, close) for close in self._closes if (place := self._held.find(close)) >= 0]
        if found:
            place, close = min(found)
            thought = self._take("thought", place)
            self._held = self._held[len(close) :]
            self._closes, self._trim = [], True
            return Part("thought", thought.text.rstrip())
        open_end = max(_beginning_at_end(self._held, close) for close in self._closes)
        sure = len(self._held[: len(self._held) - open_end].rstrip())
        return self._take("thought", sure) if sure else None

    def _between(self) -> Part | None:
        """Before the first block, or behind one: another block, or the words."""
        rest = self._held.lstrip()
        if any(pair.open.startswith(rest) and pair.open != rest for pair in self._markers):
            return None  # also when there is nothing but white space yet
        for pair in self._markers:
            if rest.startswith(pair.open):
                self._held = rest[len(pair.open) :]
                self._closes, self._trim = [pair.close], True
                return Part("thought", "")
        self._said = True
        return self._take("said", len(self._held))

    def _take(self, kind: Kind, length: int) -> Part:
        text, self._held = self._held[:length], self._held[length:]
        if self._trim:
            text = text.lstrip()
            self._trim = not text
        return Part(kind, text)


def split_thoughts(text: str, markers: Iterable[ThoughtMarkers], starts_inside: bool = False) -> list[Part]:
    """A whole answer in its parts, in order, none of them empty."""
    splitter = ThoughtSplitter(markers, starts_inside)
    return _joined([*splitter.push(text), *splitter.finish()])


def spoken(text: str, markers: Sequence[ThoughtMarkers]) -> str:
    """What an answer says without its thoughts, also when the prompt had opened the first of them."""
    begun = any(text.lstrip().startswith(pair.open) for pair in markers)
    inside = not begun and any(pair.close in text for pair in markers)
    return "".join(part.text for part in split_thoughts(text, markers, inside) if part.kind == "said")


def ends_open(text: str, markers: Iterable[ThoughtMarkers]) -> bool:
    """Whether ``text`` ends with a marker that opens a block, white space aside."""
    return text.rstrip().endswith(tuple(pair.open for pair in markers))


def _beginning_at_end(text: str, marker: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``marker``."""
    return next((n for n in range(min(len(marker) - 1, len(text)), 0, -1) if text.endswith(marker[:n])), 0)


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Neighbours of one kind as one, and nothing empty."""
    groups = groupby((part for part in parts if part.text), key=lambda part: part.kind)
    return [Part(kind, "".join(part.text for part in group)) for kind, group in groups]
