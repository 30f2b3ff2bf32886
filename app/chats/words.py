"""Text on its way into the store: what UTF-8 can hold, and a title made from it."""

from __future__ import annotations

import re
import unicodedata

TITLE_LENGTH = 60

UNTITLED = "New chat"

_GAP = re.compile(r"\s+")


def storable(text: str) -> str:
    """``text`` as UTF-8 can hold it: halves of a surrogate pair that belong together are joined, lone ones become
    U+FFFD. Everything else, NUL included, stays."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def title_from(message: str) -> str:
    """The first line that says something, shortened at a word; for the list of chats."""
    for line in message[:4000].splitlines():
        plain = "".join(" " if unicodedata.category(char) == "Cc" else char for char in line)
        title = _GAP.sub(" ", plain).strip()
        if any(char.isalnum() for char in title):
            return _shortened(title)
    return _shortened(_GAP.sub(" ", message[:TITLE_LENGTH]).strip()) or UNTITLED


def _shortened(title: str) -> str:
    if len(title) <= TITLE_LENGTH:
        return title
    head = title[: TITLE_LENGTH - 1]
    at_word = head.rsplit(" ", 1)[0]
    # A text without spaces (Chinese, one long word) is cut where it is.
    return (at_word if len(at_word) > TITLE_LENGTH // 2 else head).rstrip() + "…"
