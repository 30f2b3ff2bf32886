"""The history in words: a line for each mode of a pair, and a sentence about a drop; as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from app.bars import sparkline
from app.history.drop import rate_words
from app.history.groups import Group, History

CELLS: Final = 20
"""Answers that a chart shows, the newest at its right end."""
NOTHING: Final = "No answer in your chats is long enough to tell a speed by yet (32 tokens)."


def chart(group: Group) -> str:
    """The speeds of the last answers from 0 to the fastest, oldest at the left."""
    rates = group.rates[-CELLS:]
    return sparkline(rates, len(rates))


def figures(group: Group) -> str:
    """``42 tok/s, 38 to 45 in 23 answers``: the median and what lies around it."""
    rates, count = group.rates, len(group.answers)
    if count == 1:
        return f"{rate_words(rates[0])} tok/s in one answer"
    return f"{rate_words(group.median)} tok/s, {rate_words(min(rates))} to {rate_words(max(rates))} in {count} answers"


def drop_words(group: Group) -> str:
    """What there is to say where the newest answer was slower than its like; else nothing."""
    verdict = group.verdict
    return f"The last answer: {verdict.words}." if verdict is not None and verdict.cause is not None else ""


def as_text(history: History) -> Iterator[str]:
    """A block for each pair, a line for each mode."""
    pairs = list(history.pairs())
    if not pairs:
        yield NOTHING
    for number, (answer, groups) in enumerate(pairs):
        yield from ([""] if number else [])
        yield answer.pair
        width = max(len(group.label) for group in groups)
        for group in groups:
            yield f"  {group.label:<{width}}  {chart(group):>{CELLS}}  {figures(group)}"
            if words := drop_words(group):
                yield f"  {words}"


def as_json(history: History) -> list[dict[str, Any]]:
    """Everything that a chart is made of, newest answer first."""
    return [
        {
            "target": answer.target,
            "draft": answer.draft or None,
            "speculation": group.mode.speculation,
            "mode": group.how,
            "median_tokens_per_second": group.median,
            "drop": _drop(group),
            "answers": [
                {
                    "answer": one.id,
                    "created": one.created,
                    "decode_tokens_per_second": one.rate,
                    "output_tokens": one.tokens,
                    "context_used": one.context,
                    "other_cores": one.other_cores,
                    "made_with": dict(one.setup),
                }
                for one in group.answers
            ],
        }
        for answer, groups in history.pairs()
        for group in groups
    ]


def _drop(group: Group) -> dict[str, Any] | None:
    found = group.verdict
    if found is None or found.cause is None:
        return None
    return {"rate": found.rate, "usual": found.usual, "cause": found.cause.kind, "words": found.words}
