"""The line of figures under an answer, in words: pure functions, the same for terminal UI and command line.

A figure that is not known is a dash, never a 0. Every figure is defined in ``engine.stats.FIGURES`` and nowhere else;
a :class:`Part` of the line knows which one it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.percent import percent, written
from engine.stats import FEWEST_TOKENS, FIGURES

if TYPE_CHECKING:
    from engine.protocol import Receipt
    from engine.stats import Stats

DASH = "–"

SLOWER = 0.995
"""A factor below this is shown as a loss."""

SLOWER_WORDS: Final = "slower here"

PLAIN: Final = "plain"
"""Nobody was allowed to propose."""
NO_DRAFTS: Final = "no drafts"
"""Somebody was, and proposed nothing."""

AT_THE_LIMIT: Final = "stopped at the limit"

EXPLAINED: Final = (
    ("tok/s", "decode_tokens_per_second"),
    ("1.31x", "speedup"),
    ("accepted", "acceptance"),
    ("tok/pass", "tokens_per_pass"),
    ("s to first", "time_to_first_token"),
    ("tok", "output_tokens"),
    ("ctx", "context_used"),
    ("lookup, draft", "proposed_by"),
    ("▂▄▆", "pace"),
)
"""The words of the line and the figure behind each, for help pages."""


@dataclass(frozen=True, slots=True)
class Part:
    """One figure of the line: its name in ``FIGURES``, and the words that show it."""

    figure: str
    text: str

    @property
    def definition(self) -> str:
        """What the figure means, in one line."""
        return FIGURES[self.figure]


def backend_words(backend: str, layers: int, gpu_layers: int) -> str:
    """Where the model runs: ``CPU``, or the device with the layers offloaded to it, ``CUDA0 28/29``.

    The output layer counts as one, so all of a model of 28 layers is 29.
    """
    if gpu_layers == 0:
        return "CPU"
    return f"{backend.split(' (')[0]} {gpu_layers}/{layers + 1}"


def wide(stats: Stats, allowed: str, context: int = 0) -> str:
    """``42.1 tok/s · 1.31x · accepted 71 % (214/301) · 2.9 tok/pass · 0.4 s to first · 512 tok · ctx 1.9k/8k · draft``.

    ``allowed``: who could propose, as the protocol says it. ``context``: its size in tokens; 0 leaves the share out.
    """
    return " · ".join(part.text for part in parts(stats, allowed, context) if part.text)


def line_of(stats: Stats, proof: Receipt | None) -> str:
    """:func:`wide` of an answer that is there, with every part that its receipt knows."""
    return wide(stats, *known(proof))


def known(proof: Receipt | None) -> tuple[str, int]:
    """What the line needs beside the figures: who could propose, and the size of the context; ``("", 0)`` where
    nothing is known of it."""
    return ("", 0) if proof is None else (proof.drafter, proof.context)


def parts(
    stats: Stats, allowed: str, context: int = 0, *, steady: bool = False, short: bool = False
) -> tuple[Part, ...]:
    """Every figure of the line. ``steady`` gives each the width of its largest usual value, so nothing jumps while it
    counts; what is not known yet takes its room then. ``short`` uses fewer words."""
    first = stats.time_to_first_token
    first_words = f"{f'{DASH} s' if first is None else duration(first):>{5 if steady else 0}}"
    per_pass = _number(stats.tokens_per_pass, 3 if steady else 0)
    return (
        Part("decode_tokens_per_second", f"{_number(decode_rate(stats), 5 if steady else 0)} tok/s"),
        Part("speedup", f"{factor(stats):>5}" if steady else _factor_and_loss(stats)),
        Part("acceptance", _accepted(stats, steady)),
        Part("tokens_per_pass", f"{per_pass}/pass" if short else f"{per_pass} tok/pass"),
        Part("time_to_first_token", f"first {first_words}" if short else f"{first_words} to first"),
        Part("output_tokens", f"{stats.output_tokens:>{4 if steady else 0}} tok"),
        Part("context_used", _context(stats, context, steady)),
        Part("proposed_by", drafter_word(stats, allowed)),
    )


def narrow(stats: Stats, allowed: str) -> tuple[Part, ...]:
    """``42 tok/s · 71 % · 2.9/pass · lookup``, each in a steady width. The speed-up is left to the other end of the
    row: it becomes known while the rest counts."""
    rate = decode_rate(stats)
    share = percent(stats.accepted, stats.accepted + stats.rejected)
    return (
        Part("decode_tokens_per_second", f"{DASH if rate is None else f'{rate:.0f}':>3} tok/s"),
        Part("acceptance", f"{DASH:>3}  " if share is None else f"{written(share):>5}"),
        Part("tokens_per_pass", f"{_number(stats.tokens_per_pass, 3)}/pass"),
        Part("proposed_by", drafter_word(stats, allowed)),
    )


def decode_rate(stats: Stats) -> float | None:
    """Tokens per second, or None while there are too few to say."""
    return stats.decode_tokens_per_second if stats.output_tokens >= FEWEST_TOKENS else None


def factor(stats: Stats) -> str:
    """``1.31x``, only where plain decoding was measured."""
    return "" if stats.speedup is None else f"{stats.speedup:.2f}x"


def is_slower(stats: Stats) -> bool:
    """Whether drafting cost more than it brought."""
    return stats.speedup is not None and stats.speedup < SLOWER


def drafter_word(stats: Stats, allowed: str) -> str:
    """Who proposed tokens: ``lookup``, ``draft``, ``lookup+draft``; ``no drafts`` where somebody could and did not,
    ``plain`` where nobody was allowed to, nothing where that is not known."""
    if allowed in ("", "none"):
        return PLAIN if allowed else ""
    return "+".join(stats.proposed_by) or (allowed if stats.drafted else NO_DRAFTS)


def longest_drafter_word(allowed: str) -> int:
    """Columns that :func:`drafter_word` may come to need while an answer is made."""
    return max(len(allowed), len(NO_DRAFTS)) if allowed not in ("", "none") else len(PLAIN)


def notes(receipt: Receipt) -> list[str]:
    """Everything that was done otherwise than asked, one line each: ``plain: draft refused, ...``."""
    lines: list[str] = []
    said = any(note.startswith("draft refused") for note in receipt.notes)  # by the engine, in its own words
    if receipt.draft_refused and not said and receipt.settings.speculation in ("draft", "auto"):
        reason = receipt.draft_refused
        reason = reason if reason.lower().startswith("draft") else f"draft refused, {reason}"
        lines.append(f"{PLAIN if receipt.drafter == 'none' else receipt.drafter}: {reason}")
    lines += [note for note in (*receipt.template.notes, *receipt.notes) if note and note not in lines]
    return list(dict.fromkeys(lines))


def is_full(note: str) -> bool:
    """Whether a note says that the context was full, which ended the answer."""
    return note.startswith("the context ") and note.endswith(" is full")


def which_limit(stats: Stats | None, receipt: Receipt | None) -> str:
    """Which limit an answer was stopped at: ``the token limit of 64 was reached``."""
    if receipt is None:
        return "which limit is not recorded"
    if full := next((note for note in receipt.notes if is_full(note)), ""):
        return full
    most = receipt.settings.max_tokens
    if most is not None and (stats is None or stats.output_tokens >= most):
        return f"the token limit of {most:,} was reached"
    return "the end of the context was reached"


def ended(reason: str, stats: Stats | None, receipt: Receipt | None) -> str:
    """How an answer ended: ``stopped at the limit: ...``, ``cancelled``; nothing where it ended by itself."""
    if reason == "length":
        return f"{AT_THE_LIMIT}: {which_limit(stats, receipt)}"
    return "cancelled" if reason == "cancelled" else ""


def duration(value: float, *, digits: int = 1, spoken: bool = False) -> str:
    """Seconds in the unit that says something: ``0.3 ms``, ``40 ms``, ``0.4 s``, ``12 s``; the word for it where it is
    ``spoken``. ``digits``: of whole seconds behind the point; a single one is left out from 10 s on."""
    if 0 < value < 0.0995:
        unit, thousandths = "milliseconds" if spoken else "ms", value * 1000
        return f"{thousandths:.0f} {unit}" if thousandths >= 0.95 else f"{max(thousandths, 0.1):.1f} {unit}"
    unit = "seconds" if spoken else "s"
    return f"{value:.0f} {unit}" if value >= 9.95 and digits == 1 else f"{value:.{digits}f} {unit}"


def short_count(count: int) -> str:
    """A token count in at most four characters: ``512``, ``1.2k``, ``8k``, ``128k``."""
    if count < 1000:
        return str(count)
    thousands = count / 1024 if count % 1024 == 0 else count / 1000
    return f"{thousands:.1f}k" if thousands < 9.95 and thousands != int(thousands) else f"{thousands:.0f}k"


def continued(receipt: Receipt) -> str:
    """What the figures of a continued answer are for; empty for any other."""
    begun = receipt.continued_from
    return f"continued behind {begun:,} tokens; figures are for what came after" if begun else ""


def context_used(stats: Stats, context: int) -> int:
    """Tokens in use of the ``context``. Older records count one more where the context was full."""
    return min(stats.context_used, context)


def _context(stats: Stats, context: int, steady: bool) -> str:
    if not context:
        return ""
    return f"ctx {short_count(context_used(stats, context)):>{4 if steady else 0}}/{short_count(context)}"


def _accepted(stats: Stats, steady: bool) -> str:
    verified = stats.accepted + stats.rejected
    share = percent(stats.accepted, verified)
    if share is None:
        return f"accepted {DASH:>3}{'':>12}" if steady else f"accepted {DASH}"
    counts = f"({stats.accepted}/{verified})"
    return f"accepted {written(share):>5} {counts:>9}" if steady else f"accepted {written(share)} {counts}"


def _factor_and_loss(stats: Stats) -> str:
    return factor(stats) + (f", {SLOWER_WORDS}" if is_slower(stats) else "")


def _number(value: float | None, width: int = 0) -> str:
    return f"{DASH if value is None else f'{value:.1f}':>{width}}"
