"""The scorecard for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.compare.explained import Finding, doubt, part
from app.compare.statistics import Estimate
from app.score.card import Card, Measured, finding_of
from app.tui.names import model_name


def as_json(card: Card, found: Measured) -> dict[str, Any]:
    """The card for programs."""
    return {
        "model": found.pair.target.name,
        "draft": found.pair.draft.name if found.pair.draft else None,
        "best": card.best,
        "expected_speedup": _interval(card.expected),
        "rival": None if card.rival is None else {"way": card.rival[0], "speedup": _interval(card.rival[1])},
        "explained": None if card.explained is None else asdict(card.explained),
        "verdict": best_words(card),
        "limit": card.limit,
        "rows": [{"name": row.name, "value": row.value, "words": row.words, "good": row.good} for row in card.rows],
        "curve_of": card.curve_of,
        "curve": [{"length": length, "gain": gain} for length, gain in card.curve],
        "runs": sum(len(comparison.runs) for comparison in found.bench.comparisons),
    }


def as_text(card: Card, found: Measured) -> list[str]:
    """The card for people, a line each."""
    draft = f" + {model_name(found.pair.draft)}" if found.pair.draft else " with lookup"
    name, value = max(len(row.name) for row in card.rows), max(len(row.value) for row in card.rows)
    lines = [f"{model_name(found.pair.target)}{draft}, {found.pair.threads} threads, {found.pair.backend}", ""]
    for row in card.rows:
        mark = {True: "+", False: "-", None: " "}[row.good]
        lines.append(f"{mark} {row.name:<{name}}  {row.value:>{value}}  {row.words}")
    lines += ["", best_words(card), card.limit]
    if card.curve:
        lines += ["", card.curve_title, *_bars(card.curve)]
    return lines


def best_words(card: Card) -> str:
    """The best way here, and what it brings or, where that is nothing, what another would be."""
    if card.best is None:
        if card.rival is None:
            return "Which way is best here is not known: no two runs could be compared."
        label, found = card.rival
        return (
            f"Which way is best here is not known: {label} {found.value:.2f}x in one pair of runs, too few to say more."
        )
    if card.rival is not None:
        label, found = card.rival
        factor = f"{found.value:.2f}x{_range(found)}"
        if card.explained is not None and finding_of(found, card.explained) is Finding.MACHINE:
            return f"Best here: {card.best}. {label} was {factor}, but {doubt(found.value, card.explained)}."
        uncertain = ", no gain for certain" if round(found.value, 2) > 1 else ""
        return f"Best here: {card.best}. {label} would be {factor}{uncertain}."
    if card.expected is None:
        return f"Best here: {card.best}."
    gain = f"{card.expected.value:.2f}x on whole answers{_range(card.expected)}"
    return f"Best here: {card.best}, {gain}{part(card.expected.value, card.explained)}."


def _range(found: Estimate) -> str:
    return "" if found.low is None or found.high is None else f" ({found.low:.2f} to {found.high:.2f})"


def _interval(found: Estimate | None) -> dict[str, float | None] | None:
    return None if found is None else {"value": found.value, "low": found.low, "high": found.high}


def _bars(curve: Sequence[tuple[int, float]], width: int = 40) -> list[str]:
    most = max(value for _, value in curve)
    return [f"{length:>4}  {'█' * max(1, round(value / most * width))} {value:.2f}x" for length, value in curve]
