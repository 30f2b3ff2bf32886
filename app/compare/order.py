"""In which order things take turns, so that a machine that grows slower or faster favours none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def alternating(items: Sequence[Item], index: int, repetition: int) -> list[Item]:
    """The order of ``items`` for prompt number ``index``: rotated from prompt to prompt, and in every second
    repetition the reverse of the one before. Two items give AB, BA from prompt to prompt and ABBA in time.

    >>> alternating("AB", 0, 0) + alternating("AB", 0, 1)
    ['A', 'B', 'B', 'A']
    """
    turn = (index + repetition // 2) % len(items) if items else 0
    order = [*items[turn:], *items[:turn]]
    return order[::-1] if repetition % 2 else order


def fork(left: Sequence[int], right: Sequence[int]) -> int | None:
    """The first place where two answers differ; None when they are the same."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return place
    return None if len(left) == len(right) else min(len(left), len(right))
