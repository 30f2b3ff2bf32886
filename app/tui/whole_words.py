"""Words in less room than they take: whole parts, else whole words; no figure is cut, or left without its word."""

from __future__ import annotations

import re
from typing import Final

from textual.content import Content

_PARTS: Final = re.compile(r" · |; ")
_WORDS: Final = re.compile(r"(?<!\d) ")


def whole_words(text: str, width: int) -> str:
    """As much of ``text`` as ``width`` cells hold."""
    if _cells(text) <= width:
        return text
    parts = [match.start() for match in _PARTS.finditer(text) if _cells(text[: match.start()]) <= width]
    rest = _PARTS.split(text[parts[-1] :], maxsplit=2)[1] if parts else ""
    words = [match.start() for match in _WORDS.finditer(text) if _cells(text[: match.start()]) < width]
    if parts and (any(letter.isdecimal() for letter in rest) or words[-1] <= parts[-1] + 2):
        return text[: parts[-1]]
    return f"{text[: words[-1]].rstrip(' ,.;:')}…" if words else Content(text).truncate(width, ellipsis=True).plain


def _cells(text: str) -> int:
    return Content(text).cell_length
