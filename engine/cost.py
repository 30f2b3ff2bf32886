"""What drafting costs and brings on this machine: times of passes by width, and the best number of proposals.

In units of a plain pass: a draft of k costs ``k * D + R(k + 1)`` and brings ``1 + a1 + a1 a2 + ...`` expected tokens,
where R(n) is the time of a pass over n tokens, D that of one drafted token and a_i the calibrated probability that the
i-th proposal is accepted once those before it were. The best k is searched over all lengths, since R is not monotone
(kernels change); 0 is among them, so plain decoding is the answer wherever it is the fastest.

Everything is relative to ``unit``, the present time of a plain pass, which follows the machine's load within a few
passes; the ratios move slowly. The same idea: "goodput" in vLLM, the profile-guided length of llama.cpp PR 14132; the
measured R instead of the textbook's constant 1 is what makes it hold on CPUs (engine.md section 0.2).
"""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from engine.median import PRIOR_VOTES, RunningMedian

MARGIN = 1.06
"""A draft must promise this much more than a plain pass: estimates err, and a wrong draft is dear."""

UNIT_WINDOW = 7
UNIT_IS_FRESH = 8
"""Wide passes behind a plain one that may still be measured against it."""
LOAD_EVIDENCE = 3
"""Wide passes that must agree before they count as a change of load."""
RATIO_WINDOW = 31
MOST_SWITCH = 0.5
"""By how much of a plain pass the one behind a wide pass may be dearer (the library builds its graph anew for another
width) before it is taken for something else. It falls due once, when the drafting ends: it is charged to the
draft that begins it, behind a plain pass, and to nobody while it goes on."""
PRIOR_RATIO_SLOPE = 0.45
"""R(n) before anything was measured: 1 + 0.45 (n - 1), a small quantized model on a CPU, where drafting pays least."""


FLATTER = 0.65
"""How much of the slope up to the widest measured pass is reckoned with behind it. Costs grow more slowly the wider
passes get: from 8 to 16 tokens 0.53 to 0.76 of the slope up to 8, on four models (docs/benchmark.md, V(n))."""

EXPLORING_LENGTH, EXPLORED_PASSES = 7, 2
"""Until passes this wide were seen this often, a guess stands in for their cost, and a pessimistic one would keep it
unknown: the first proposals that look right are sent at this length, whatever the guess says."""


MOST_REMEMBERED = 256
"""Answers of :meth:`CostModel.best_length_alike` that are kept while nothing is learned."""

SOUND_PROPOSALS, SOUND_PASSES = 16, PRIOR_VOTES
"""Below as many proposals of the draft, or passes of a width, what was measured is noise to anybody who is told of it:
two short answers on a busy machine made a token cost a twentieth of a pass where it was a half."""


Measured = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A time, or one over another: what is read from a file must not bring zeros under a division."""


class CostProfile(BaseModel):
    """What is kept of a cost model between runs: ratios, which outlive the load of the moment."""

    ratios: dict[int, Measured] = Field(default_factory=dict, description="pass width -> time over a plain pass")
    draft_ratio: Measured | None = Field(None, description="one drafted token over a plain pass")
    draft_prefill_ratio: Measured | None = Field(None, description="reading one prompt token on the draft, likewise")
    unit_seconds: Measured | None = Field(None, description="a plain pass when last measured, for display")
    passes: dict[int, int] = Field(default_factory=dict, description="pass width -> how many its ratio was made of")
    proposals: int = Field(0, description="how many proposals of the draft its ratio was made of")


class CostModel:
    """Times of target passes by width and of drafted tokens, in units of a plain pass (seconds in, ratios out).

    Plain passes tell the unit. While only wide passes run, a change of load shows as all of them being slower than
    their ratio says; it is taken as load, not as a new ratio, so that the ratios outlive a busy neighbour. Ratios
    are learned only close behind a plain pass, while the unit is fresh.
    """

    def __init__(self, profile: CostProfile | None = None, *, draft_ratio_guess: float | None = None) -> None:
        profile = profile or CostProfile()
        self._plain = RunningMedian(UNIT_WINDOW, profile.unit_seconds)
        self._since_plain = 0
        self._last_width = 1
        self._behind_wide: float | None = None
        self._switch = RunningMedian(RATIO_WINDOW, 0.0)
        self._load = RunningMedian(UNIT_WINDOW)
        self._ratios = {width: RunningMedian(RATIO_WINDOW, ratio) for width, ratio in profile.ratios.items()}
        self._known: dict[int, float] = {}  # asked for at every pass, for many widths; empty when something was learned
        self._break_even: dict[tuple[int, bool], float] = {}
        self._alike: dict[tuple[float, int, float, bool], tuple[int, float]] = {}
        self._draft = RunningMedian(RATIO_WINDOW, profile.draft_ratio or draft_ratio_guess)
        self._draft_known = profile.draft_ratio is not None
        self._passes = collections.Counter(profile.passes)
        self._proposals = profile.proposals
        self._draft_prefill = RunningMedian(5, profile.draft_prefill_ratio)

    @property
    def unit(self) -> float | None:
        """Seconds of a plain pass now; None before the first one."""
        plain = self._plain.value
        if plain is None or len(self._load) < LOAD_EVIDENCE:
            return plain
        return plain * (self._load.value or 1.0)

    @property
    def passes_since_plain(self) -> int:
        """Wide passes since the last plain one."""
        return self._since_plain

    def ratio(self, width: int) -> float:
        """R(width). Widths never measured are interpolated between measured neighbours, or extrapolated from the
        widest one with FLATTER of its own slope, the prior's at most: too dear a guess would never be put right."""
        known = self._known.get(width)
        if known is None:
            known = self._known[width] = self._estimate(width)
        return known

    def break_even(self, longest: int) -> float:
        """The lowest acceptance of a first proposal that is there already with which any draft of up to ``longest``
        could pay, were all behind it certain; above 1 where none can."""
        begins = self._last_width == 1
        known = self._break_even.get((longest, begins))
        if known is None:
            switch = self._switch_cost if begins else 0.0
            costs = ((k, self.ratio(k + 1) + switch) for k in range(1, longest + 1))
            lowest = min(((MARGIN * cost - 1) / k for k, cost in costs), default=math.inf)
            known = self._break_even[longest, begins] = lowest
        return known

    @property
    def _switch_cost(self) -> float:
        return self._switch.value or 0.0

    def _learned(self) -> None:
        self._known.clear()
        self._break_even.clear()
        self._alike.clear()

    def _estimate(self, width: int) -> float:
        if width <= 1:
            return 1.0
        measured = {1: 1.0} | {w: m.value for w, m in self._ratios.items() if m.value is not None}
        if width in measured:
            return measured[width]
        below = max(w for w in measured if w < width)
        above = min((w for w in measured if w > width), default=None)
        if above is None:
            steep = FLATTER * (measured[below] - 1) / (below - 1) if below > 1 else PRIOR_RATIO_SLOPE
            slope = min(PRIOR_RATIO_SLOPE, steep)
            return measured[below] + slope * (width - below)
        share = (width - below) / (above - below)
        return measured[below] + share * (measured[above] - measured[below])

    @property
    def explored(self) -> bool:
        """Whether a wide pass was measured often enough, now or earlier, to tell how the cost grows with the width."""
        return any(len(m) + m.votes >= EXPLORED_PASSES for w, m in self._ratios.items() if w > EXPLORING_LENGTH)

    @property
    def proposals(self) -> int:
        """How many proposals of the draft what it costs was measured on."""
        return self._proposals

    @property
    def draft_ratio(self) -> float | None:
        """D: one drafted token in plain passes; None when it was never measured nor guessed."""
        return self._draft.value

    @property
    def draft_measured(self) -> bool:
        """Whether D was measured, in this run or an earlier one; otherwise it is a guess."""
        return self._draft_known or len(self._draft) > 0

    def break_even_average(self, longest: int, per_token: float) -> float | None:
        """The lowest acceptance, the same at every place, with which drafts of tokens that cost ``per_token`` each
        would pay, in steps of one percent; None when not even certainty would do."""
        for percent in range(1, 101):
            length, _ = self.best_length([percent / 100] * longest, per_token=per_token)
            if length:
                return percent / 100
        return None

    def observe_pass(self, width: int, seconds: float) -> None:
        """A target pass over ``width`` tokens took ``seconds``, choosing and bookkeeping included."""
        last, self._last_width = self._last_width, width
        if width == 1:
            if last > 1:
                self._behind_wide = seconds
                seconds /= 1 + self._switch_cost
            elif self._behind_wide is not None:
                self._switch.add(min(MOST_SWITCH, max(0.0, self._behind_wide / seconds - 1)))
                self._behind_wide = None
                self._learned()
            self._plain.add(seconds)
            self._since_plain = 0
            self._load = RunningMedian(UNIT_WINDOW)
            return
        plain = self._plain.value
        if plain is None:
            return
        self._since_plain += 1
        self._load.add(seconds / (plain * self.ratio(width)))
        if self._since_plain <= UNIT_IS_FRESH:
            self._ratios.setdefault(width, RunningMedian(RATIO_WINDOW)).add(seconds / plain)
            self._passes[width] += 1
            self._learned()

    def observe_draft(self, tokens: int, seconds: float) -> None:
        """The draft model proposed ``tokens`` in ``seconds``, its catching up included."""
        if tokens > 0 and (unit := self.unit):
            self._draft.add(seconds / tokens / unit)
            self._proposals += 1

    def observe_draft_prefill(self, tokens: int, seconds: float) -> None:
        """The draft model read ``tokens`` of a prompt in ``seconds``."""
        if tokens >= 16 and (unit := self.unit):
            self._draft_prefill.add(seconds / tokens / unit)

    def draft_prefill_cost(self, tokens: int) -> float:
        """Reading ``tokens`` on the draft, in plain passes. Unmeasured: a tenth of drafting them."""
        per_token = self._draft_prefill.value
        if per_token is None:
            per_token = 0.1 * (self._draft.value or 0.0)
        return tokens * per_token

    def adopt(self, ratios: dict[int, float]) -> None:
        """Take measured ratios as what is believed until the passes of real answers say otherwise."""
        self._learned()
        for width, ratio in ratios.items():
            if width > 1:
                self._ratios[width] = RunningMedian(RATIO_WINDOW, ratio)
                self._passes[width] = max(self._passes[width], SOUND_PASSES)  # the self-test takes medians itself

    def profile(self) -> CostProfile:
        """What to keep."""
        return CostProfile(
            ratios={w: m.value for w, m in sorted(self._ratios.items()) if m.value is not None},
            draft_ratio=self._draft.value if self.draft_measured else None,  # a guess is made anew each time
            draft_prefill_ratio=self._draft_prefill.value,
            unit_seconds=self._plain.value,
            passes=dict(sorted(self._passes.items())),
            proposals=self._proposals,
        )

    def best_length(
        self, accepted: Sequence[float], *, per_token: float = 0.0, spent: float = 0.0
    ) -> tuple[int, float]:
        """The best number of proposals to send, and the expected tokens per plain-pass time it gives.

        ``accepted``: a_1, a_2, ... of the proposals at hand; at most that many are sent. ``per_token``: D when they
        have still to be made, 0 when they are there. ``spent``: time already gone, whatever is decided.
        """
        plain = 1.0 / (1.0 + spent)
        length, rate = self.best_length_from(1, accepted, per_token=per_token, spent=spent)
        needed = plain if spent else plain * MARGIN  # what is spent is spent: then the better of the two is the better
        return (length, rate) if rate > needed else (0, plain)

    def best_length_alike(self, probability: float, longest: int, per_token: float) -> tuple[int, float]:
        """:meth:`best_length` of up to ``longest`` proposals that are all as likely to be right: asked for at every
        pass with figures that seldom change, and answered from memory."""
        key = probability, longest, per_token, self._last_width == 1
        known = self._alike.get(key)
        if known is None:
            if len(self._alike) >= MOST_REMEMBERED:
                self._alike.clear()
            known = self._alike[key] = self.best_length([probability] * longest, per_token=per_token)
        return known

    def best_length_from(
        self, shortest: int, accepted: Sequence[float], *, per_token: float = 0.0, spent: float = 0.0
    ) -> tuple[int, float]:
        """:meth:`best_length` among drafts of at least ``shortest`` (>= 1); (0, 0.0) when there are none."""
        best, best_rate = 0, 0.0
        reached, tokens, switch = 1.0, 1.0, self._switch_cost if self._last_width == 1 else 0.0
        for k, probability in enumerate(accepted, start=1):
            reached *= probability
            tokens += reached
            if k >= shortest:
                rate = tokens / (spent + k * per_token + self.ratio(k + 1) + switch)
                if rate > best_rate:
                    best, best_rate = k, rate
        return best, best_rate
