"""Does a text say these words? The same answer with and without an index, in every script."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from app.chats.words import storable

MOST_WORDS: Final = 16
"""A query is read that far."""

SNIPPET: Final = 160
"""Characters around a place that is shown."""

BEFORE: Final = 40
"""How many of them stand before it."""

_GAP: Final = re.compile(r"\s+")


class _Folding(dict[int, str]):
    """Character -> what it is compared as: no case, no accents, no wide or joined forms. One character at a time, so
    places in the folded text can be traced back."""

    def __missing__(self, code: int) -> str:
        text = unicodedata.normalize("NFKD", chr(code)).casefold()
        folded = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
        self[code] = folded
        return folded


_FOLDED: Final = _Folding({0: " "})  # SQLite's tokenizers take NUL for the end of the text


def fold(text: str) -> str:
    """``text`` as it is compared: ``Straße`` and ``STRASSE`` are the same, ``café`` and ``cafe`` as well."""
    return text.lower().replace("\0", " ") if text.isascii() else text.translate(_FOLDED)


def words_of(query: str) -> tuple[str, ...]:
    """The folded words of what a person typed. Everything is taken as it stands; there is no query language."""
    return tuple(dict.fromkeys(fold(storable(query)).split()))[:MOST_WORDS]


def says(text: object, words: tuple[str, ...]) -> bool:
    """Whether every one of the folded ``words`` is in ``text``, also as a part of a longer word."""
    if not isinstance(text, str):  # a value of a damaged file
        return False
    folded = fold(text)
    return all(word in folded for word in words)


def marks(text: str, words: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where the folded ``words`` stand in ``text``: start and end of each place, in order, none overlapping."""
    folded, origin = _traced(text)
    places = []
    for word in words:
        at = folded.find(word)
        while at >= 0:
            end = origin[at + len(word) - 1] + 1
            while end < len(text) and not _FOLDED[ord(text[end])]:  # an accent of the last letter
                end += 1
            places.append((origin[at], end))
            at = folded.find(word, at + len(word))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def first_place(text: str, words: tuple[str, ...]) -> int:
    """Where the first of the folded ``words`` begins in ``text``; 0 when there is none."""
    folded = fold(text)
    at = min((place for word in words if (place := folded.find(word)) >= 0), default=0)
    if text.isascii():
        return at
    for index, char in enumerate(text):
        at -= len(_FOLDED[ord(char)])
        if at < 0:
            return index
    return 0


def snippet(text: str, words: tuple[str, ...]) -> str:
    """One line of ``text`` around the first of the folded ``words``. Not cleaned yet."""
    at = first_place(text, words)
    start = max(0, at - BEFORE)
    if start and (gap := _GAP.search(text, start, min(at, start + BEFORE // 2))):
        start = gap.end()  # at a word
    line = _GAP.sub(" ", text[start : start + SNIPPET]).strip()
    return f"{'…' if start else ''}{line}{'…' if start + SNIPPET < len(text) else ''}"


def _traced(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters the place in ``text`` that it comes from."""
    parts = [_FOLDED[ord(char)] for char in text]
    return "".join(parts), [index for index, part in enumerate(parts) for _ in part]
