"""What stands in the composer's document for what cannot be edited there: steering characters, and large pastes.

A character that could steer the terminal, or that the document would take for a line end, is one private-use character
there, drawn as its stand-in; a large paste is a label, which begins with another one.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import Final

from app.clean import clean

LINE_END: Final = re.compile(r"\r\n?")
DROPPED: Final = re.compile("[\x00\ud800-\udfff]")  # neither can be stored
_OWN: Final = 0x10FE00
LABEL: Final = chr(0x10FFFD)
"""The first character of a label, drawn as ``[``: what the user types is never taken for one."""
_SUSPECTS: Final = [
    character
    for character in map(
        chr, chain(range(0x01, 0xA0), range(0x2000, 0x2070), range(0xFFF0, 0xFFFD), range(0xE0000, 0xE0080))
    )
    if clean(character) != character
]
HIDE: Final = {ord(character): chr(_OWN + n) for n, character in enumerate(_SUSPECTS)}
RAW: Final = {hidden: chr(code) for code, hidden in HIDE.items()}
DRAW: Final = {ord(hidden): clean(raw).replace("\n", "\u2424") for hidden, raw in RAW.items()} | {ord(LABEL): "["}
OWN_CHARACTERS: Final = re.compile(f"[{chr(_OWN)}-{LABEL}]")
FOLDED: Final = re.compile(rf"{LABEL}pasted [\d,]+ characters?, [\d,]+ lines? #(\d+)\]")
SPECIAL: Final = re.compile(f"{FOLDED.pattern}|{OWN_CHARACTERS.pattern}")


def label_for(number: int, text: str) -> str:
    """What stands in the document for a large paste."""
    characters, lines = len(text), text.count("\n") + 1
    return (
        f"{LABEL}pasted {characters:,} character{'s' * (characters != 1)}, "
        f"{lines:,} line{'s' * (lines != 1)} #{number}]"
    )


def is_control(text: str) -> bool:
    """Whether a key's character is a command to a terminal, or half of one."""
    return any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
