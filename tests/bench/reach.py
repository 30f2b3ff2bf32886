"""What drafting can have to do with the time between two runs: the program's arithmetic over the bench's figures."""

from __future__ import annotations

from typing import Final

from app.compare.explained import Explained, Finding, doubt, explained, judge, part
from engine.stats import Stats
from tests.bench.figures import Estimate
from tests.bench.run import Run

_COUNTED: Final = ("passes", "drafted", "prefill_seconds", "draft_prefill_seconds", "draft_seconds")


def reach(run: Run, against: Run, *, decode: bool) -> Explained | None:
    """The factors of ``run`` against ``against`` that drafting explains; None where a peer made one of them, which
    counts no passes."""
    if any(name not in each.more for each in (run, against) for name in _COUNTED):
        return None
    length = len(against.tokens)
    return explained(_stats(against, length), _stats(run, length), per_token=decode)


def _stats(run: Run, length: int) -> Stats:
    """As if the answer had ``length`` tokens: a fork may have changed that, and ratios are scaled likewise."""
    scale = length / len(run.tokens)
    return Stats(
        output_tokens=length,
        target_passes=round(run.more["passes"] * scale),
        drafted=round(run.more["drafted"] * scale),
        prefill_seconds=run.more["prefill_seconds"],
        draft_prefill_seconds=run.more["draft_prefill_seconds"],
        draft_seconds=run.more["draft_seconds"] * scale,
        total_seconds=run.seconds + run.decode_seconds * (scale - 1),
    )


def is_the_machines(found: Estimate, within: Explained | None) -> bool:
    """Whether there is a difference and drafting does not explain it."""
    if within is None or found.low is None or found.high is None:
        return False
    return judge(found.value, found.low, found.high, within) is Finding.MACHINE


def reach_words(found: Estimate, within: Explained | None) -> str:
    """What of a difference drafting does not explain; empty where it explains all of it."""
    if within is not None and is_the_machines(found, within):
        return doubt(found.value, within)
    return part(found.value, within).removeprefix(", of which ")
