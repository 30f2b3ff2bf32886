"""``/receipt``: the whole receipt of an answer, a line a figure, as the screen lays it out in columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from app import receipt_sheet
from app.chats.proof import no_proof
from app.receipt import duration, notes
from app.tui.names import pair_of

if TYPE_CHECKING:
    from app.chats.records import Figures
    from app.receipt_sheet import Row
    from app.tui.conversation import Turn
    from engine.protocol import Receipt
    from engine.stats import Stats

_GAP: Final = re.compile(r"\s{2,}")


def text_of(turn: Turn) -> str:
    """Every section of the receipt of an answer that has figures."""
    figures = turn.figures
    stats = figures.stats() if figures else None
    proof = figures.receipt() if figures else None
    if stats is None:
        return no_proof(figures)
    lines = _section("Speed", receipt_sheet.speed(stats))
    times = [*map(_share, receipt_sheet.times(stats)), *_lines(receipt_sheet.total(stats))]
    lines += _section("Where the time went", times)
    lines += _section("Tokens", [*receipt_sheet.tokens(stats, proof), *receipt_sheet.ended(figures, stats, proof)])
    lines += _drafts(stats)
    lines += _made(stats, proof, figures) if proof is not None else [no_proof(figures)]
    lines += _section("Its seal", turn.doubts)
    return "\n".join([*lines, "slipstream help figures explains every figure."])


def _drafts(stats: Stats) -> list[str]:
    lines = _section("Drafts", receipt_sheet.drafts(stats))
    for drafter in receipt_sheet.drafters(stats):
        lines += _section(f"Drafts of the {drafter.name}", drafter.rows)
        rates = [f"{place.accepted:,} of {place.verified:,}" for place in drafter.positions if place.verified]
        if rates:
            lines.append(f"accepted by position: {', '.join(rates)}")
    return lines


def _made(stats: Stats, proof: Receipt, figures: Figures | None) -> list[str]:
    lines = [f"Made by {pair_of(proof.target, proof.draft)}:", *_lines(receipt_sheet.making(stats, proof))]
    lines += _section("Made with", receipt_sheet.machine(proof, figures))
    return [*lines, *_section("Notes", notes(proof))]


def _section(title: str, rows: Iterable[Row | str]) -> list[str]:
    lines = _lines(rows)
    return [f"{title}:", *lines] if lines else []


def _lines(rows: Iterable[Row | str]) -> list[str]:
    """``label: value``. What stands in columns on the screen is a list here: ``68, 81 %``."""
    return [row if isinstance(row, str) else f"{row.label}: {_GAP.sub(', ', row.value)}" for row in rows]


def _share(part: receipt_sheet.Time) -> str:
    return f"{part.label}: {duration(part.seconds, spoken=True)}, {part.share} percent"
