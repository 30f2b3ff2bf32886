"""The line of figures under an answer, in words: pure functions, the same for terminal UI and command line.

A figure that is not known is a dash, never a 0. Every figure is defined in ``engine.stats.FIGURES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.protocol import Receipt
    from engine.stats import Stats

DASH = "–"

MIN_TOKENS = 3
"""Below this many tokens a speed says nothing: one slow pass would be half of it."""

SLOWER = 0.995
"""A factor below this is shown as a loss."""

STEADY_WIDTH = 95
"""Columns that the steady wide line needs with the longest drafter's name: what a terminal of 100 leaves."""

DRAFTER_WORDS = {"none": "plain"}


def backend_words(backend: str, layers: int, gpu_layers: int) -> str:
    """Where the model runs: ``CPU``, or the device with the layers offloaded to it, ``CUDA0 28/29``.

    The output layer counts as one, so all of a model of 28 layers is 29.
    """
    if gpu_layers == 0:
        return "CPU"
    return f"{backend.split(' (')[0]} {gpu_layers}/{layers + 1}"


def wide(stats: Stats, drafter: str, *, steady: bool = False) -> str:
    """``42.1 tok/s  1.31x   accepted 71 % (214/301)   2.9 tok/pass   first 0.4 s   512 tok   lookup``.

    ``steady`` gives every figure the width of its largest usual value, so nothing jumps while it counts.
    """
    rate = decode_rate(stats)
    speed = f"{_number(rate, 5 if steady else 0)} tok/s{_factor(stats, steady)}"
    parts = [speed, _accepted(stats, steady), *_costs(stats, steady), drafter_word(drafter)]
    return ("  " if steady else "   ").join(part for part in parts if part)


def narrow(stats: Stats, drafter: str) -> str:
    """``42 tok/s · 1.31x · 71 % · 2.9/pass · lookup``; below 1 the factor says ``slower``."""
    rate, factor = decode_rate(stats), stats.speedup
    accepted = percent(stats.accepted, stats.accepted + stats.rejected)
    parts = [
        f"{DASH if rate is None else f'{rate:.0f}'} tok/s",
        "" if factor is None else f"{factor:.2f}x" + (" slower" if factor < SLOWER else ""),
        DASH if accepted is None else f"{accepted} %",
        f"{_number(stats.tokens_per_pass)}/pass",
        drafter_word(drafter),
    ]
    return " · ".join(part for part in parts if part)


def decode_rate(stats: Stats) -> float | None:
    """Tokens per second, or None while there are too few to say."""
    return stats.decode_tokens_per_second if stats.output_tokens >= MIN_TOKENS else None


def percent(part: int, whole: int) -> int | None:
    """Whole percent; None where there is nothing to divide by. 0 and 100 are said only when they are exact."""
    if whole <= 0:
        return None
    rounded = round(100 * part / whole)
    return rounded if part in (0, whole) else min(max(rounded, 1), 99)


def drafter_word(drafter: str) -> str:
    """``none`` is what the protocol says, ``plain`` is what people read."""
    return DRAFTER_WORDS.get(drafter, drafter)


def notes(receipt: Receipt) -> list[str]:
    """Everything that was done otherwise than asked, one line each: ``plain: draft refused, ...``."""
    lines: list[str] = []
    said = any(note.startswith("draft refused") for note in receipt.notes)  # by the engine, in its own words
    if receipt.draft_refused and not said and receipt.settings.speculation in ("draft", "auto"):
        reason = receipt.draft_refused
        reason = reason if reason.lower().startswith("draft") else f"draft refused, {reason}"
        lines.append(f"{drafter_word(receipt.drafter)}: {reason}")
    lines += [note for note in (*receipt.template.notes, *receipt.notes) if note and note not in lines]
    return list(dict.fromkeys(lines))


def _accepted(stats: Stats, steady: bool) -> str:
    verified = stats.accepted + stats.rejected
    share = percent(stats.accepted, verified)
    if share is None:
        return f"accepted {DASH:>3}{'':>12}" if steady else f"accepted {DASH}"
    counts = f"({stats.accepted}/{verified})"
    return f"accepted {share:>3} % {counts:>9}" if steady else f"accepted {share} % {counts}"


def _costs(stats: Stats, steady: bool) -> list[str]:
    first = stats.time_to_first_token
    return [
        f"{_number(stats.tokens_per_pass, 3 if steady else 0)} tok/pass",
        f"first {DASH if first is None else seconds(first):>{3 if steady else 0}} s",
        f"{stats.output_tokens:>{4 if steady else 0}} tok",
    ]


def seconds(value: float) -> str:
    """``0.04``, ``0.4``, ``12``: no more digits than mean something."""
    if value < 0.095:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def _factor(stats: Stats, steady: bool) -> str:
    """The speed-up, only where plain decoding was measured."""
    if stats.speedup is None:
        return " " * 7 if steady else ""
    return f"  {stats.speedup:.2f}x" + (", slower here" if stats.speedup < SLOWER else "")


def _number(value: float | None, width: int = 0) -> str:
    return f"{DASH if value is None else f'{value:.1f}':>{width}}"
