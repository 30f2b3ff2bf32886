"""Answers of the past, written down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.history.past import Mode, PastAnswer

AUTO = Mode("auto", exact=True)
SETUP = {"what it runs on": "CPU", "the number of threads": "2", "llama-cpp-python": "0.3.36"}


def past(number: int, rate: float, **changes: Any) -> PastAnswer:
    """One of 100 tokens behind a short conversation, on a quiet machine; ``number`` rises with time."""
    answer = PastAnswer(
        id=number,
        created="2026-11-29T15:00:00.000+00:00",
        name="SmolLM2",
        target="/m/smol.gguf",
        draft="",
        marks=("f", ""),
        mode=AUTO,
        rate=rate,
        tokens=100,
        context=400,
        speedup=None,
        other_cores=0.05,
        setup=SETUP,
    )
    return replace(answer, **changes)


def steady(count: int = 8, rate: float = 19.0, **changes: Any) -> list[PastAnswer]:
    """``count`` answers about as fast as each other, newest first."""
    return [past(number, rate + 0.2 * (number % 3 - 1), **changes) for number in range(count, 0, -1)]
