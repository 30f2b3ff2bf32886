"""Where answers differ, which ways go on alike: a difference names two answers, and there may be up to four ways."""

from __future__ import annotations

from app.compare.conduct import Comparison
from app.compare.verdict import first_fork


def sides(comparison: Comparison) -> dict[str, tuple[int | None, ...]]:
    """Way -> the token that its answers have at the first difference, None behind their end; several where its runs
    differ among themselves. Empty while all answers are the same."""
    forked = first_fork(comparison)
    if forked is None:
        return {}
    return {
        way.label: tuple(dict.fromkeys(run.token_at(forked[2]) for run in runs))
        for way in comparison.ways
        if (runs := comparison.of(way))
    }


def side_words(comparison: Comparison) -> str:
    """Which of the two answers that were named the other ways are like; empty where there are no others."""
    forked = first_fork(comparison)
    if forked is None or forked[0].way == forked[1].way:
        return ""
    named = {run.way.label: run.token_at(forked[2]) for run in forked[:2]}
    like: dict[str, list[str]] = {}
    for label, tokens in sides(comparison).items():
        if len(tokens) > 1:
            like.setdefault("not the same in all runs", []).append(label)
        elif label not in named:
            fitting = [f"like {name}" for name, token in named.items() if token == tokens[0]]
            like.setdefault(fitting[0] if fitting else "like neither", []).append(label)
    return f"There {', '.join(_said(labels, side) for side, labels in like.items())}." if like else ""


def _said(labels: list[str], side: str) -> str:
    *first, last = labels
    return f"{', '.join(first)} and {last} are {side}" if first else f"{last} is {side}"
