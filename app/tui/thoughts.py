"""Thinking blocks in an answer: what was thought, what was said, and how many tokens the thinking took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.protocol import ThoughtMarkers
from engine.text.thoughts import Kind, ThoughtSplitter, split_thoughts

if TYPE_CHECKING:
    from engine.protocol import Receipt, TemplateInfo

USUAL: Final = tuple(
    ThoughtMarkers(open=open_, close=close)
    for open_, close in (
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<mm:think>", "</mm:think>"),
        ("◁think▷", "◁/think▷"),
    )
)
"""Where no template names any: many a file comes with a plain one and thinks all the same, and an engine that crashed
told nothing. Those of ``engine.text.thinking`` that are no words otherwise."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """How an answer thinks: the markers of its template, and whether the prompt opened the first block."""

    markers: tuple[ThoughtMarkers, ...] = USUAL
    starts_inside: bool = False

    @staticmethod
    def of(receipt: Receipt | None) -> Thinking:
        """As a stored answer did."""
        return Thinking() if receipt is None else Thinking(receipt.template.markers or USUAL, receipt.starts_in_thought)

    @staticmethod
    def begun(template: TemplateInfo | None, starts_inside: bool) -> Thinking:
        """As an answer will that is being made."""
        return Thinking((template.markers if template else ()) or USUAL, starts_inside)

    def splitter(self) -> ThoughtSplitter:
        """For its text while it arrives."""
        return ThoughtSplitter(self.markers, self.starts_inside)

    def spoken(self, text: str) -> str:
        """What an answer says without its thoughts: for copying. Unchanged where it has none."""
        parts = split_thoughts(text, self.markers, self.starts_inside)
        return "".join(part.text for part in parts if part.kind == "said")


class Placed(NamedTuple):
    """A part of an answer, and where its text begins in it."""

    kind: Kind
    text: str
    start: int

    @property
    def stop(self) -> int:
        return self.start + len(self.text)


def placed(text: str, thinking: Thinking) -> list[Placed]:
    """A whole answer in its parts and where they begin; blocks that follow each other are one part, which begins with
    the first of them."""
    found: list[Placed] = []
    cursor = 0
    for part in split_thoughts(text, thinking.markers, thinking.starts_inside):
        # What is said goes on to the end; thoughts of joined blocks stand nowhere in one piece.
        start = len(text) - len(part.text) if part.kind == "said" else max(cursor, text.find(part.text, cursor))
        found.append(Placed(part.kind, part.text, start))
        cursor = start + len(part.text)
    return found


def tokens_of(parts: Sequence[Placed], text: str, lengths: Sequence[int], blurred: int = 0) -> list[int | None]:
    """How many tokens each part of ``text`` took, its markers and the layout behind it included; None where the
    ``lengths`` (characters of each token) are not known, or not of all of it, or where a part ends within the
    ``blurred`` first characters, which are told of in one piece."""
    stops = [*(part.start for part in parts[1:]), len(text)]
    if not parts or sum(lengths) != len(text) or any(0 < stop < blurred for stop in stops):
        return [None] * len(parts)
    ends = list(accumulate(lengths))
    before = [bisect_right(ends, stop) for stop in (0, *stops)]
    return [after - count for count, after in pairwise(before)]
