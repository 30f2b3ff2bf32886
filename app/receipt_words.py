"""The line of figures under an answer in whole words, as a screen reader says them: the figures of ``app.receipt``.

``42.1 tokens per second, 1.31 times plain decoding, 214 of 301 proposals accepted (71 percent), 2.9 tokens per pass,
0.4 seconds to the first token, 512 tokens, context 1,912 of 8,192, proposed by lookup``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.percent import percent
from app.receipt import (
    NO_DRAFTS,
    PLAIN,
    SLOWER_WORDS,
    Part,
    context_used,
    decode_rate,
    drafter_word,
    duration,
    is_slower,
)

if TYPE_CHECKING:
    from engine.stats import Stats


def spoken(stats: Stats, allowed: str, context: int = 0) -> str:
    """The whole line. ``allowed``: who could propose, as the protocol says it; ``context``: its size in tokens, 0
    leaves the share out."""
    return ", ".join(part.text for part in spoken_parts(stats, allowed, context) if part.text)


def spoken_parts(stats: Stats, allowed: str, context: int = 0) -> tuple[Part, ...]:
    """Every figure of :func:`app.receipt.parts`, in its order. What is not known is said to be so, or has no words."""
    rate, per_pass, first = decode_rate(stats), stats.tokens_per_pass, stats.time_to_first_token
    return (
        Part("decode_tokens_per_second", "speed not known" if rate is None else f"{rate:.1f} tokens per second"),
        Part("speedup", _factor(stats)),
        Part("acceptance", _accepted(stats)),
        Part("tokens_per_pass", "" if per_pass is None else f"{per_pass:.1f} tokens per pass"),
        Part("time_to_first_token", "" if first is None else f"{duration(first, spoken=True)} to the first token"),
        Part("output_tokens", counted(stats.output_tokens)),
        Part("context_used", f"context {context_used(stats, context):,} of {context:,}" if context else ""),
        Part("proposed_by", _proposed_by(drafter_word(stats, allowed))),
    )


def counted(tokens: int) -> str:
    """``1 token``, ``1,200 tokens``."""
    return many(tokens, "token")


def many(count: int, word: str) -> str:
    """``1 run``, ``3 runs``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _factor(stats: Stats) -> str:
    if stats.speedup is None:
        return ""
    return f"{stats.speedup:.2f} times plain decoding" + (f" ({SLOWER_WORDS})" if is_slower(stats) else "")


def _accepted(stats: Stats) -> str:
    verified = stats.accepted + stats.rejected
    share = percent(stats.accepted, verified)
    if share is None:
        return ""
    return f"{stats.accepted:,} of {verified:,} proposal{'' if verified == 1 else 's'} accepted ({share} percent)"


def _proposed_by(word: str) -> str:
    if word in (PLAIN, NO_DRAFTS, ""):
        return "plain decoding" if word == PLAIN else word
    return f"proposed by {word.replace('+', ' and ')}"
