"""How fast models were here, from the figures of the answers in the store. Read on a connection of its own."""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

ANSWERS: Final = 300
"""The newest answers that are looked at."""

PER_PAIR: Final = 9
"""Of these, as many of one pair as its speed is taken from."""

LEAST_TOKENS: Final = 16
"""Answers that are shorter say little about a speed."""

_QUERY: Final = """
    SELECT json_extract(receipt, '$.target.path'), json_extract(receipt, '$.draft.path'),
        json_extract(stats, '$.decode_tokens_per_second'), json_extract(stats, '$.speedup')
    FROM (SELECT * FROM figures WHERE receipt IS NOT NULL ORDER BY message DESC LIMIT ?)
    WHERE json_valid(receipt) AND json_valid(stats) AND json_extract(stats, '$.output_tokens') >= ?
    """


class Speed(NamedTuple):
    """Medians of the latest answers of one pair."""

    tokens_per_second: float
    speedup: float | None
    """Against plain decoding, of the answers that it was measured for."""


Speeds = Mapping[tuple[str, str], Speed]
"""(path of the target, path of the draft or nothing) -> how fast it was."""


def read_speeds(file: Path | None) -> Speeds:
    """From the store ``file``; nothing where there is none, or none that can be read."""
    if file is None or not file.is_file():
        return {}
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            rows = db.execute(_QUERY, (ANSWERS, LEAST_TOKENS)).fetchall()
    except sqlite3.Error:
        return {}
    found: dict[tuple[str, str], list[tuple[float, float | None]]] = {}
    for target, draft, rate, speedup in rows:
        if isinstance(target, str) and isinstance(rate, (int, float)):
            answers = found.setdefault((target, draft if isinstance(draft, str) else ""), [])
            if len(answers) < PER_PAIR:
                answers.append((rate, speedup if isinstance(speedup, (int, float)) else None))
    return {pair: _speed(answers) for pair, answers in found.items()}


def _speed(answers: list[tuple[float, float | None]]) -> Speed:
    factors = [speedup for _, speedup in answers if speedup is not None]
    return Speed(statistics.median(rate for rate, _ in answers), statistics.median(factors) if factors else None)
