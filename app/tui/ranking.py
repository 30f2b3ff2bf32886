"""Which of many names a person means who has typed a few letters of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

MOST: Final = 50
"""Names that a list shows."""


def rank(typed: str, names: Sequence[str], most: int = MOST, *, as_given: bool = False) -> list[str]:
    """The names that ``typed`` can mean, best first: those that begin with it, then those in which a word does, those
    that hold it anywhere, and those that have its letters in this order. Among equals the shorter one goes first, and
    then the one that stood first; ``as_given``: always that one. Upper and lower case are the same."""
    wanted = typed.casefold()
    if not wanted:
        return list(names[:most])
    word = re.compile(rf"(?:^|[^a-z0-9]){re.escape(wanted)}")
    letters = re.compile(".*?".join(map(re.escape, wanted)), re.DOTALL)
    tests: tuple[Callable[[str], object], ...] = (
        lambda name: name.startswith(wanted),
        word.search,
        lambda name: wanted in name,
        letters.search,
    )
    return _tiers([(name, name.casefold()) for name in names], tests, most, as_given=as_given)


def rank_paths(typed: str, paths: Sequence[tuple[str, str]], most: int = MOST) -> list[str]:
    """:func:`rank` for paths, given with their casefolded twins: what is typed is first of all a file's own name. With
    a slash in it, it is about the whole path."""
    wanted = typed.casefold()
    if not wanted:
        return [path for path, _ in sorted(paths, key=_shallow)[:most]]
    letters = re.compile(".*?".join(map(re.escape, wanted)), re.DOTALL)
    tests: tuple[Callable[[str], object], ...] = (
        lambda path: path.startswith(wanted) or path[path.rfind("/") + 1 :].startswith(wanted),
        lambda path: wanted in path[path.rfind("/") + 1 :],
        lambda path: wanted in path,
        letters.search,
    )
    return _tiers(paths, tests, most)


def _tiers(
    names: Sequence[tuple[str, str]], tests: Sequence[Callable[[str], object]], most: int, *, as_given: bool = False
) -> list[str]:
    """What passes the first test, then what passes the next one, until there are enough."""
    found: list[str] = []
    left = list(names)
    for test in tests:
        here = [pair for pair in left if test(pair[1])]
        found += [name for name, _ in (here if as_given else sorted(here, key=_shallow))]
        if len(found) >= most:
            break
        passed = set(here)
        left = [pair for pair in left if pair not in passed] if passed else left
    return found[:most]


def _shallow(pair: tuple[str, str]) -> tuple[int, int]:
    return pair[1].count("/"), len(pair[1])
