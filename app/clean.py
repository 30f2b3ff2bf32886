"""Text of models, users, files and errors as it may be shown: no control code reaches the terminal.

What was said stays untouched in the store; this is the last step before a widget or a stream sees it. Every
character that could steer a terminal or turn the reading order becomes one visible stand-in, so widths and positions
stay the same.
"""

from __future__ import annotations

import re
from typing import Final

_REPLACEMENT: Final = "\ufffd"

_STAND_INS: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # ESC -> ␛, BEL -> ␇, CR -> ␍ ...
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT),  # C1: some terminals obey them
    **dict.fromkeys((0x202A, 0x202B, 0x202C, 0x202D, 0x202E), _REPLACEMENT),  # bidi embeddings and overrides
    **dict.fromkeys((0x2066, 0x2067, 0x2068, 0x2069), _REPLACEMENT),  # bidi isolates
    **dict.fromkeys((0x2028, 0x2029, 0x85), "\n"),  # line ends that Python's splitlines knows and Markdown does not
    **dict.fromkeys(range(0xFFF9, 0xFFFC), _REPLACEMENT),  # interlinear annotation
    **dict.fromkeys(range(0xE0000, 0xE0080), _REPLACEMENT),  # tag characters: text nobody sees
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT),  # lone surrogates: no terminal can be sent them
}
del _STAND_INS[0x09], _STAND_INS[0x0A]

_SUSPECT: Final = re.compile(f"[{''.join(re.escape(chr(code)) for code in sorted(_STAND_INS))}]")
_LINE_END: Final = re.compile(r"\r\n?")
_GAP: Final = re.compile(r"\s+")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n`` and visible stand-ins for everything that is not plain text.

    A CR that ends no line (``\\r`` alone, used to overwrite a line) becomes ``␍``.
    """
    if _SUSPECT.search(text) is None:
        return text
    return _SUSPECT.sub(lambda match: _STAND_INS[ord(match[0])], text.replace("\r\n", "\n"))


def clean_line(text: str, limit: int = 200) -> str:
    """``text`` as one cleaned line of at most ``limit`` characters: titles, names, reasons."""
    line = _GAP.sub(" ", clean(text)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def clean_input(text: str) -> str:
    """Typed or pasted text: every kind of line end becomes ``\\n``, the rest as in :func:`clean`."""
    return clean(_LINE_END.sub("\n", text))


class StreamCleaner:
    """:func:`clean` for text that arrives in pieces: a CR LF may be cut in two."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The part of the text so far that can be shown and was not shown yet."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else ""
        return clean(text[: len(text) - len(self._held)])

    def finish(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return clean(held)
