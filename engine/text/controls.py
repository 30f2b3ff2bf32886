"""Only the chat template writes control tokens: what people and models said stays text.

A message may contain the text of a control token, ``<|im_end|>`` for instance. Tokenized along with the template it
would become that token and end the turn. So before rendering each such text is replaced by a mark of private-use
characters, which trimming and changes of case leave alone, and after rendering the marks become segments of their
own that are tokenized as plain text. Without such texts, which is nearly always, there is one segment.

The parts of a control text may also meet only in the rendered prompt, where one content ends with ``<|im_`` and the
next begins with ``end|>``. Contents that end or begin with such a part carry a mark there, and the prompt is cut at
the mark if a control text really lies across it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

_DIGITS = [chr(0xE000 + value) for value in range(16)]
_OPEN, _CLOSE = chr(0xE010), chr(0xE011)


class Segment(NamedTuple):
    """Part of a prompt. Where ``parse_special`` is False, control tokens must not be recognised in ``text``."""

    text: str
    parse_special: bool


class Controls:
    """The control-token texts of one vocabulary, made searchable.

    Vocabularies hold up to some thousand of them, so the expression finds the first two characters only and a set
    decides, longest first: the time does not grow with the number of texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in texts if text)
        self._lengths: dict[str, list[int]] = {}
        for text in self.texts:
            lengths = self._lengths.setdefault(text[:2], [])
            if len(text) not in lengths:
                lengths.append(len(text))
        for lengths in self._lengths.values():
            lengths.sort(reverse=True)
        heads = sorted(self._lengths, key=len, reverse=True)
        self._head = re.compile("|".join(map(re.escape, heads))) if heads else None
        self._longest = max(map(len, self.texts), default=0)
        self._beginnings = {text[:end] for text in self.texts for end in range(1, len(text))}
        self._endings = {text[start:] for text in self.texts for start in range(1, len(text))}

    def find(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of every control text in ``text``, leftmost first, longest at each place, none overlapping."""
        found: list[tuple[int, int]] = []
        position = 0
        while self._head is not None and (head := self._head.search(text, position)) is not None:
            start = head.start()
            position = start + 1
            for key in (text[start : start + 2], text[start]):  # a one-character control text is its own head
                for length in self._lengths.get(key, ()):
                    if text[start : start + length] in self.texts and position < start + length:
                        position = start + length
            if text[start:position] in self.texts:
                found.append((start, position))
        return found

    def across(self, text: str, place: int) -> bool:
        """Whether a control text begins before ``place`` and ends behind it."""
        return any(
            text[start:end] in self.texts
            for start in range(max(0, place - self._longest + 1), place)
            for end in range(place + 1, min(len(text), start + self._longest) + 1)
        )

    def guard(self, contents: Sequence[str]) -> Guarded:
        """Contents in which every control text is replaced by a mark, and the way back."""
        return Guarded(self, contents)

    def _ends_with_part(self, text: str) -> bool:
        return any(text[-length:] in self._beginnings for length in range(1, min(len(text), self._longest) + 1))

    def _begins_with_part(self, text: str) -> bool:
        return any(text[:length] in self._endings for length in range(1, min(len(text), self._longest) + 1))

    def replace(self, content: str, marks: Marks) -> str:
        """``content`` with marks for its control texts, and at its ends where a part of one begins or ends."""
        body = content.strip()  # templates trim, so the ends that can meet something are those of the body
        begin = len(content) - len(content.lstrip())
        edits = [(start, end, marks.text(content[start:end])) for start, end in self.find(content)]
        if self._begins_with_part(body):
            edits.append((begin, begin, marks.place))
        if self._ends_with_part(body):
            edits.append((begin + len(body), begin + len(body), marks.place))
        parts: list[str] = []
        position = 0
        for start, end, mark in sorted(edits):
            if start >= position:  # an end that lies inside a control text needs no mark of its own
                parts += (content[position:start], mark)
                position = end
        return "".join(parts) + content[position:]


class Marks:
    """Numbered marks that occur in none of the contents.

    Their name is a hash of the contents, not a random number: the same messages give the same prompt even under a
    template that counts or cuts characters.
    """

    def __init__(self, contents: Sequence[str]) -> None:
        digest = hashlib.sha256("\0".join(contents).encode("utf-8", "surrogatepass")).hexdigest()
        self._name = _OPEN + "".join(_DIGITS[int(digit, 16)] for digit in digest[:16])
        self.place = self._name + _CLOSE
        self._texts: list[str] = []
        self.pattern = re.compile(f"{self._name}([{''.join(_DIGITS)}]*){_CLOSE}")

    def text(self, original: str) -> str:
        """A new mark that stands for ``original``."""
        number = f"{len(self._texts):x}"
        self._texts.append(original)
        return self._name + "".join(_DIGITS[int(digit, 16)] for digit in number) + _CLOSE

    def original(self, number: str) -> str:
        """What the mark with this number (in mark digits) stands for."""
        index = int("".join(f"{_DIGITS.index(digit):x}" for digit in number), 16)
        return self._texts[index] if index < len(self._texts) else ""


class Guarded:
    """Contents that are safe to render, and how to read the rendered prompt."""

    def __init__(self, controls: Controls, contents: Sequence[str]) -> None:
        self._controls = controls
        self._marks = Marks(contents)
        self.contents = [controls.replace(content, self._marks) for content in contents]

    def split(self, rendered: str) -> tuple[Segment, ...]:
        """The prompt in segments, marks replaced by what they stand for."""
        segments: list[Segment] = []
        places: list[int] = []
        run, position = "", 0
        for mark in self._marks.pattern.finditer(rendered):
            run += rendered[position : mark.start()]
            position = mark.end()
            if mark[1]:
                segments += self._cut(run, places)
                segments.append(Segment(self._marks.original(mark[1]), False))
                run, places = "", []
            else:
                places.append(len(run))
        segments += self._cut(run + rendered[position:], places)
        return tuple(segment for segment in segments if segment.text)

    def _cut(self, run: str, places: list[int]) -> list[Segment]:
        cuts = [0, *(place for place in places if self._controls.across(run, place)), len(run)]
        return [Segment(run[start:end], True) for start, end in pairwise(cuts)]


def split_controls(text: str, controls: Iterable[str]) -> tuple[Segment, ...]:
    """``text``, said by somebody, in segments in which no control text is recognised as a token."""
    guarded = Controls(controls).guard([text])
    return guarded.split(guarded.contents[0])
