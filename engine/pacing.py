"""Pacing: what has been learned about a pair on this machine, and so when and how far to draft."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from engine.calibration import (
    LOOKUP_BUCKETS,
    LOOKUP_PRIOR,
    LOOKUP_PRIOR_WEIGHT,
    MARGIN_BUCKETS,
    MARGIN_PRIOR,
    MARGIN_PRIOR_WEIGHT,
    Calibration,
)
from engine.cost import SOUND_PROPOSALS, CostModel, CostProfile

Count = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Counts = dict[int, tuple[Count, Count]]
"""Bucket -> (accepted, seen), as :meth:`engine.calibration.Calibration.counts` gives them."""


def temperature_class(temperature: float) -> str:
    """Calibration is kept apart for these: a margin or a match means less the hotter the target samples."""
    return "greedy" if temperature == 0 else "cool" if temperature <= 0.5 else "warm" if temperature <= 1 else "hot"


class PacingProfile(BaseModel):
    """What pacing has learned about a pair on a machine; kept between runs."""

    cost: CostProfile = Field(default_factory=CostProfile)
    lookup: dict[str, Counts] = Field(default_factory=dict)
    draft: dict[str, Counts] = Field(default_factory=dict)


def _of_lookup(counts: Counts) -> Calibration:
    return Calibration(LOOKUP_BUCKETS, LOOKUP_PRIOR, counts, LOOKUP_PRIOR_WEIGHT)


def _of_draft(counts: Counts) -> Calibration:
    return Calibration(MARGIN_BUCKETS, MARGIN_PRIOR, counts, MARGIN_PRIOR_WEIGHT)


class Pacer:
    """Cost model and calibrations of one pair. Lives as long as the pair; one answer at a time uses it."""

    def __init__(self, profile: PacingProfile | None = None, *, draft_ratio_guess: float | None = None) -> None:
        profile = profile or PacingProfile()
        self.cost = CostModel(profile.cost, draft_ratio_guess=draft_ratio_guess)
        self._lookup = {name: _of_lookup(counts) for name, counts in profile.lookup.items()}
        self._draft = {name: _of_draft(counts) for name, counts in profile.draft.items()}

    def lookup(self, temperature: float) -> Calibration:
        """The calibration of lookup proposals at this temperature."""
        name = temperature_class(temperature)
        return self._lookup.setdefault(name, _of_lookup({}))

    def draft(self, temperature: float) -> Calibration:
        """The calibration of draft-model proposals at this temperature."""
        name = temperature_class(temperature)
        return self._draft.setdefault(name, _of_draft({}))

    def profile(self) -> PacingProfile:
        """What to keep."""
        return PacingProfile(
            cost=self.cost.profile(),
            lookup={name: calibration.counts() for name, calibration in self._lookup.items()},
            draft={name: calibration.counts() for name, calibration in self._draft.items()},
        )


def not_worth_it(cost: CostModel, longest: int, observed: float | None, expected: float | None = None) -> str | None:
    """Why drafts of up to ``longest`` tokens by the pair's draft model do not pay here, in words; None where they may.

    ``observed``: its acceptance as it was seen; ``expected``: what is to be reckoned with, where that is known better.
    """
    per_token = cost.draft_ratio
    if per_token is None:
        return None
    price = f"a token of it takes {per_token:.2f} of a plain pass"
    if not cost.draft_measured:
        price += ", by the sizes of the files"
    elif cost.proposals < SOUND_PROPOSALS:
        price += f" (measured on {cost.proposals} proposal{'s' * (cost.proposals != 1)})"
    needed = cost.break_even_average(longest, per_token)
    if needed is None:
        return f"the draft model is not worth it here: {price}, too much even if it were always right"
    if observed is None or (observed if expected is None else expected) >= needed:
        return None
    return (
        f"the draft model is not worth it here: {price}, so {100 * needed:.0f} % of its proposals would have to be "
        f"right; lately {100 * observed:.0f} % were"
    )
