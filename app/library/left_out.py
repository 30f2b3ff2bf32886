"""What is said of files that would be missed in the list: each by its name, or counted where many share a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from app.clean import clean_line
from app.library.found import ADDED
from app.library.ollama import NO_MANIFEST, NOT_IN_FULL
from app.library.walk import DEAD_LINK, LeftOut
from app.links import NOWHERE

SINGLY: Final = 3
"""So many of one place and reason have a line each; of more the first is named and the rest counted."""

_OF_MANY: Final = {
    DEAD_LINK: "links to files that are gone",
    NOWHERE: "links that lead nowhere",
    NO_MANIFEST: "manifests that cannot be understood",
    NOT_IN_FULL: "models that are not here in full",
}


def left_out_words(left_out: Iterable[LeftOut]) -> list[str]:
    """Sentences about what is not offered. What another tool is still writing is no news, but in a folder that the user
    named it is missed."""
    alike: dict[tuple[str, str], list[LeftOut]] = {}
    for one in left_out:
        if one.origin == ADDED or not one.expected:
            alike.setdefault((one.origin, _reason(one)), []).append(one)
    words = (sentence for (origin, reason), those in alike.items() for sentence in _said(origin, reason, those))
    return list(dict.fromkeys(words))  # one dead link may be the place of several tools


def _said(origin: str, reason: str, those: list[LeftOut]) -> Iterator[str]:
    if len(those) <= SINGLY:
        yield from map(_of_one, those)
        return
    what = _OF_MANY.get(reason, f"files are left out ({reason})")
    yield f"{origin}: {len(those):,} {what}: {_named(those[0])} and {len(those) - 1:,} more."


def _reason(one: LeftOut) -> str:
    """The reason without the name of the one it is about."""
    return one.reason.removeprefix(f"{one.name} ") if one.name else one.reason


def _of_one(one: LeftOut) -> str:
    if one.name and one.reason.startswith(f"{one.name} "):
        return f"{one.origin}: {clean_line(one.reason, 400)}."
    return f"{one.shown}: {one.reason}."


def _named(one: LeftOut) -> str:
    return clean_line(one.name, 200) if one.name else one.shown
