"""The X-ray view: who proposed each character of an answer, laid over the text as it is shown.

An answer has one letter a token (:class:`engine.protocol.TextDelta`) and its receipt the length of each token's text;
together they are one letter a character. Markdown shows most of these characters, but not the marks among them, so
every block is matched with the stretch of source it was made of. What cannot be matched stays untinted, never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final

from textual.content import Span

from app.tui.token_texts import UNKNOWN

if TYPE_CHECKING:
    from markdown_it.token import Token

STYLES: Final = {"l": "$xray-lookup 24%", "d": "$xray-draft 28%", "c": "$xray-corrected"}
"""Proposed by lookup, proposed by the draft model, the target's correction. Everything else is the target alone.
What they look like is the theme's: without colours they are reversed and underlined."""

_LINK_END: Final = re.compile(r"\](\([^)\n]*\)|\[[^\]\n]*\])?")
_REACH: Final = 12
"""Characters of markup that are skipped to find the next one that is shown."""


def letters(text: str, sources: str, lengths: Sequence[int]) -> str | None:
    """One letter a character of ``text``; None where that is not known (older answers)."""
    if not lengths or len(lengths) != len(sources) or sum(lengths) != len(text):
        return None
    return "".join(letter * length for letter, length in zip(sources, lengths, strict=True))


def cleaned(text: str, found: str) -> str:
    """The letters of ``clean(text)``, which differs in length by the CR of every line that ends with CR LF."""
    if "\r\n" not in text:
        return found
    gone = {match.start() for match in re.finditer("\r\n", text)}
    return "".join(letter for at, letter in enumerate(found) if at not in gone)


def spans(found: str) -> list[Span]:
    """The styles of a stretch of text with these letters."""
    made, start = [], 0
    for letter, run in groupby(found):
        stop = start + len(list(run))
        if letter in STYLES:
            made.append(Span(start, stop, STYLES[letter]))
        start = stop
    return made


@dataclass(frozen=True, slots=True)
class Source:
    """A Markdown document as it was parsed, its letters, and where its lines begin."""

    text: str
    letters: str
    starts: tuple[int, ...]

    @staticmethod
    def of(text: str, found: str) -> Source:
        return Source(text, found, tuple(accumulate((len(line) + 1 for line in text.split("\n")), initial=0)))

    def _line(self, number: int) -> tuple[int, str]:
        """Where a line begins, and the line."""
        if not 0 <= number < len(self.starts) - 1:
            return 0, ""
        start = self.starts[number]
        return start, self.text[start : self.starts[number + 1] - 1]

    def of_code(self, token: Token, code: str) -> str:
        """The letters of a code block as it is shown."""
        first = (token.map[0] if token.map else 0) + (1 if token.type == "fence" else 0)
        return UNKNOWN.join(self._end_of_line(first + at, line) for at, line in enumerate(code.split("\n")))

    def of_inline(self, token: Token) -> str:
        """The letters of a paragraph, a heading: of everything that Textual shows of its inline ``token``."""
        first = token.map[0] if token.map else 0
        lines = token.content.split("\n")
        return _shown(token, UNKNOWN.join(self._end_of_line(first + at, line) for at, line in enumerate(lines)))

    def of_cells(self, tokens: Sequence[Token]) -> list[str]:
        """The letters of a table's cells, which share their lines, in the order in which they are shown."""
        cells, row, at = [], -1, 0
        for token in tokens:
            number = token.map[0] if token.map else 0
            start, line = self._line(number)
            at = at if number == row else 0
            row, place = number, line.find(token.content, at)
            if place < 0:
                cells.append(UNKNOWN * len(token.content))
                continue
            at = place + len(token.content)
            cells.append(_shown(token, self.letters[start + place : start + at]))
        return cells

    def _end_of_line(self, number: int, shown: str) -> str:
        """The letters of ``shown``, which ends a line: what stands before it are marks of lists and quotes."""
        start, line = self._line(number)
        place = line.rfind(shown)
        if place < 0:
            return UNKNOWN * len(shown)
        return self.letters[start + place : start + place + len(shown)]


def _shown(token: Token, found: str) -> str:
    """From the letters of an inline token's source to those of the text that Textual makes of it."""
    content, at = token.content, 0
    out: list[str] = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            places = list(_places(content, child.content, at))
            known = [place for place in places if place is not None]
            at = known[-1] + 1 if known else at
            taken = "".join(UNKNOWN if place is None else found[place] for place in places)
            out.append(taken if child.type == "code_inline" else _spaces_joined(child.content, taken))
        elif child.type in ("softbreak", "hardbreak"):
            at = max(at, content.find("\n", at) + 1)
            out.append(UNKNOWN)
        elif child.type == "link_close":
            end = _LINK_END.match(content, at)
            at = end.end() if end else at
        elif child.type == "image":
            end = _LINK_END.search(content, at)
            at = end.end() if end else at
            words = "".join(grandchild.content for grandchild in child.children or ())
            alt = f"({child.attrs['alt']})" if child.attrs.get("alt") else ""
            out.append(UNKNOWN * len(f"🖼  {alt}{words}"))
    return "".join(out)


def _places(content: str, text: str, at: int) -> Iterator[int | None]:
    """Where each character of ``text`` stands in ``content``, from ``at`` on. Escapes and entities are skipped."""
    start = content.find(text, at)
    if start >= 0:
        yield from range(start, start + len(text))
        return
    for char in text:
        place = content.find(char, at, at + _REACH)
        yield place if place >= 0 else None
        at = place + 1 if place >= 0 else at


def _spaces_joined(text: str, found: str) -> str:
    """Textual shows white space within a line as one blank."""
    return "".join(found[match.start()] for match in re.finditer(r"\s+|\S", text))
