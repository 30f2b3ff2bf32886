"""How fast each pair was lately, in two figures: what the list of models shows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from app.history.past import PastAnswer

PER_PAIR: Final = 9
"""As many of the newest answers of one pair as its speed is taken from."""

LEAST_TOKENS: Final = 16
"""Answers that are shorter say little about a speed."""


class Speed(NamedTuple):
    """Medians of the latest answers of one pair."""

    tokens_per_second: float
    speedup: float | None
    """Against plain decoding, of the answers that it was measured for."""


Speeds = Mapping[tuple[str, str], Speed]
"""(path of the target, path of the draft or nothing) -> how fast it was."""


def latest_speeds(answers: Sequence[PastAnswer]) -> Speeds:
    """``answers``: newest first."""
    found: dict[tuple[str, str], list[PastAnswer]] = {}
    for answer in answers:
        latest = found.setdefault((answer.target, answer.draft), [])
        if answer.tokens >= LEAST_TOKENS and len(latest) < PER_PAIR:
            latest.append(answer)
    return {pair: _speed(latest) for pair, latest in found.items() if latest}


def _speed(answers: Sequence[PastAnswer]) -> Speed:
    factors = [answer.speedup for answer in answers if answer.speedup is not None]
    return Speed(statistics.median(answer.rate for answer in answers), statistics.median(factors) if factors else None)
