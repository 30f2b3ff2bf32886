"""How much of the time between two runs drafting can have to do with, and what is the machine's own.

Drafting saves passes of the target and nothing else; it costs the drafter's time and wider passes. A pass over n tokens
takes at least as long as one over a single token and at most as long as n of those. So from what two runs counted, and
from the time of the first of them, follows how far apart drafting may have brought them. What goes beyond that was done
by the machine: by other programs, by heat, by chance.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.compare.statistics import geometric_mean
from engine.stats import Stats


@dataclass(frozen=True, slots=True)
class Explained:
    """The smallest and the largest factor that drafting explains."""

    low: float
    high: float

    def excess(self, value: float) -> float:
        """How many times ``value`` goes beyond that, in either direction; 1: not at all."""
        return max(1.0, value / self.high, self.low / value)

    @property
    def saved_nothing(self) -> bool:
        """Whether no pass was saved at all."""
        return self.high <= 1

    @property
    def cost_nothing(self) -> bool:
        """Whether it cost nothing that two decimals would show."""
        return round(self.low, 2) >= 1


class Finding(StrEnum):
    """What a measured factor says."""

    FASTER = "faster"
    SLOWER = "slower"
    ALIKE = "no difference"
    MACHINE = "the machine's"
    """There is a difference, and drafting does not explain it."""


def explained(first: Stats, run: Stats, *, per_token: bool = False) -> Explained | None:
    """The factors of ``run`` against ``first`` that drafting explains; None where too little was counted to say. On the
    whole answer, or ``per_token`` of what comes behind the prompt."""
    reading = first.queue_seconds + first.prefill_seconds
    drafting = first.draft_seconds + first.draft_prefill_seconds
    decoding = first.total_seconds - reading - drafting
    if decoding <= 0 or not first.target_passes or not run.target_passes:
        return None
    fixed = 0.0 if per_token else reading
    whole = fixed + drafting + decoding
    least = fixed + decoding * (run.target_passes / _evaluated(first))
    drafted = run.draft_seconds + run.draft_prefill_seconds
    most = fixed + drafted + decoding * (_evaluated(run) / first.target_passes)
    scale = run.output_tokens / first.output_tokens if per_token and first.output_tokens else 1.0
    return Explained(scale * whole / most, scale * whole / least)


def _evaluated(stats: Stats) -> int:
    """Tokens in the target's passes: each takes the last chosen one and what was drafted behind it."""
    return stats.target_passes + stats.drafted


def middle(found: Sequence[Explained | None]) -> Explained | None:
    """The median of what is explained, run by run."""
    known = [each for each in found if each is not None]
    if not known:
        return None
    return Explained(statistics.median(each.low for each in known), statistics.median(each.high for each in known))


def mean(groups: Sequence[Sequence[Explained | None]]) -> Explained | None:
    """The geometric mean of what is explained, every group weighing the same, as in
    :func:`app.compare.statistics.estimate`."""
    known = [[each for each in group if each is not None] for group in groups]
    known = [group for group in known if group]
    if not known:
        return None
    low = geometric_mean([geometric_mean([each.low for each in group]) for group in known])
    high = geometric_mean([geometric_mean([each.high for each in group]) for group in known])
    return Explained(low, high)


def judge(value: float, low: float, high: float, within: Explained | None) -> Finding:
    """What a factor says that lies between ``low`` and ``high``. As it is shown: 1.00 is neither gain nor loss.

    What goes beyond the reach of drafting shows how much the machine made of a difference, at least. It may have made
    as much again that is not seen, so what drafting explains has to be more than twice as large to be called its own.
    """
    faster, slower = round(low, 2) > 1, round(high, 2) < 1
    if not faster and not slower:
        return Finding.ALIKE
    if within is None:
        return Finding.FASTER if faster else Finding.SLOWER
    own, noise = credible(value, within), within.excess(value) ** 2
    if faster:
        return Finding.FASTER if round(own / noise, 2) > 1 else Finding.MACHINE
    return Finding.SLOWER if round(own * noise, 2) < 1 else Finding.MACHINE


def credible(value: float, within: Explained | None) -> float:
    """The factor, as far as drafting explains it."""
    return value if within is None else min(max(value, within.low), within.high)


def claim(name: str, first: str, value: float, low: float, high: float, within: Explained | None) -> str:
    """The beginning of a sentence about a difference: never more than drafting can have caused."""
    spread = f"({low:.2f} to {high:.2f})"
    match judge(value, low, high, within):
        case Finding.FASTER:
            return f"{name} is {value:.2f}x faster than {first} here {spread}{part(value, within)}"
        case Finding.SLOWER:
            return f"{name} is slower than {first} here: {value:.2f}x as fast {spread}{part(value, within)}"
        case Finding.MACHINE if within is not None:
            return f"{name} was {value:.2f}x as fast as {first} here {spread}, but {doubt(value, within)}"
        case _:
            return f"{name} was {value:.2f}x as fast as {first} here {spread}"


def part(value: float, within: Explained | None) -> str:
    """What of a difference is drafting's, where that is not all of it; empty where it is."""
    if within is None or round(credible(value, within), 2) == round(value, 2):
        return ""
    bound = f"{within.high:.2f}x at most" if value > 1 else f"{within.low:.2f}x at worst"
    return f", of which drafting explains {bound}"


def doubt(value: float, within: Explained) -> str:
    """Why a difference is no merit and no fault of drafting."""
    if value > 1:
        why = "drafting saved no pass" if within.saved_nothing else f"drafting explains {within.high:.2f}x at most"
    else:
        why = "drafting took no time" if within.cost_nothing else f"drafting explains {within.low:.2f}x at worst"
    return f"{why}: the difference is the machine's, not the drafter's"
