"""``auto``: drafts with whatever pays most now, as long as it pays, and decodes plainly otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from engine.cost import EXPLORING_LENGTH
from engine.drafters.base import NOTHING, Draft, Outcome
from engine.drafters.lookup import LookupDrafter
from engine.drafters.model import ModelDrafter
from engine.pacing import Pacer, not_worth_it

PLAIN_PROBE = 32
"""Drafted passes after which one plain pass tells again what plain decoding costs now."""

WIDE_PROBE = 160
"""Passes without a draft after which the best proposal at hand is tried although the model says it does not pay."""

FIRST_MODEL_PROBE, LAST_MODEL_PROBE = 32, 1024
"""Passes between two trials of a draft model that did not pay; doubled each time it does not."""

TRIAL_SHARE = 1 / 16
"""The part of the time since the last trial that reading the prompt for the next one may cost."""

EARLY_MODEL_PROBE, LITTLE_EVIDENCE = 4, 16
"""The first interval while fewer proposals than this were verified: one unlucky guess must not decide."""

LIKELY = 0.85
"""A proposal this likely to be right may be used to find out what longer passes cost."""

PACED_DRAFT_MAX = 15
"""Most proposals that ``auto`` considers."""

TYPICAL_ANSWER = 256
"""Tokens an answer is expected to go on for, when nothing limits it: what a draft's prefill is weighed against."""


class PacedDrafter:
    """Asks the cost model at every pass: nothing, lookup's proposals, or the draft model's, and how many.

    Lookup proposals cost nothing to make, so their worth is learned even where they are not sent: the token that the
    target chooses shows what the first proposal would have been worth. A draft model is asked only while its average
    acceptance promises a gain, its reading of the prompt included, and now and then to see whether it does again.
    """

    def __init__(
        self,
        lookup: LookupDrafter,
        model: ModelDrafter | None,
        pacer: Pacer,
        temperature: float,
        remaining: Callable[[], int | None],
    ) -> None:
        self.name = "lookup" if model is None else "lookup+draft"
        self._lookup, self._model, self._cost = lookup, model, pacer.cost
        self._lookup_odds, self._model_odds = pacer.lookup(temperature), pacer.draft(temperature)
        self._remaining = remaining
        self._found: Draft = NOTHING
        self._since_wide = 0
        self._since_model = 0
        self._model_probe = EARLY_MODEL_PROBE if self._model_odds.seen < LITTLE_EVIDENCE else FIRST_MODEL_PROBE
        self._model_paid = False

    @property
    def note(self) -> str | None:
        """Why the draft model was left out of this answer, but for trials, or where it gave up; None where it did not.
        It may still be that lookup paid more, or that the answer was too short to read the prompt for."""
        if self._model is None:
            return None
        if not self._model_paid:
            why = not_worth_it(self._cost, PACED_DRAFT_MAX, self._model_odds.observed, self._model_odds.average)
            if why is not None:  # then it matters to nobody that there was no room for a trial
                return why
        return self._model.note

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`."""
        self._lookup.begin(prompt)
        if self._model is not None:
            self._model.begin(prompt)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`."""
        match = self._lookup.find(history)
        first = 0.0 if match is None else self._lookup_odds.probability(match.grade)
        exploring = first >= LIKELY and limit >= EXPLORING_LENGTH and not self._cost.explored
        worth_it = match is not None and (exploring or first >= self._cost.break_even(limit))
        self._found = NOTHING if match is None else self._lookup.propose(match, limit if worth_it else 1)
        if self._cost.unit is None or self._cost.passes_since_plain >= PLAIN_PROBE:
            return NOTHING
        odds = [self._lookup_odds.probability(grade) for grade in self._found.confidence] if worth_it else []
        length, rate = self._cost.best_length(odds)
        if self._model is not None and self._asks_model(history, limit, rate) and self._model.room(history):
            return self._from_model(self._model, history, limit)
        if exploring:
            length = max(length, EXPLORING_LENGTH)
        elif length == 0 and first >= 0.5 and self._since_wide >= WIDE_PROBE:
            length = 1
        return Draft(self._found.tokens[:length], "lookup", self._found.confidence) if length else NOTHING

    def _asks_model(self, history: Sequence[int], limit: int, other_rate: float) -> bool:
        """Whether the draft model promises more than ``other_rate`` (tokens per plain pass), or is due for a trial."""
        assert self._model is not None
        per_token = self._cost.draft_ratio
        if per_token is None:
            return False
        perfect, best_case = self._cost.best_length_alike(1.0, limit, per_token)
        if perfect == 0 or best_case <= other_rate:
            return False  # not even if every proposal were right
        unread = self._model.unread(history)
        length, rate = self._cost.best_length_alike(self._model_odds.average, limit, per_token)
        if length and rate > other_rate:
            remaining = self._remaining()
            tokens = TYPICAL_ANSWER if remaining is None else min(remaining, TYPICAL_ANSWER)
            pays = tokens * (1 / other_rate - 1 / rate) > self._cost.draft_prefill_cost(unread)
            self._model_paid |= pays
            return pays
        # A trial is worth what it costs now and then; where the prompt has still to be read, the less often.
        waited = self._since_model >= self._model_probe
        return waited and self._cost.draft_prefill_cost(unread) <= TRIAL_SHARE * self._since_model

    def _from_model(self, model: ModelDrafter, history: Sequence[int], limit: int) -> Draft:
        """Draft while another proposal promises more than sending those at hand; send as many as are worth it."""
        per_token = self._cost.draft_ratio or 0.0
        average = self._model_odds.average

        def probabilities(margins: Sequence[float]) -> list[float]:
            return [self._model_odds.probability(margin) for margin in margins]

        def go_on(margins: Sequence[float]) -> bool:
            spent = len(margins) * per_token
            known = probabilities(margins)
            _, now = self._cost.best_length(known, spent=spent)
            more = [*known, *([average] * (limit - len(known)))]
            _, later = self._cost.best_length_from(len(known) + 1, more, per_token=per_token)
            return later > now

        self._since_model = 0
        observed = self._model_odds.observed
        if limit >= EXPLORING_LENGTH and not self._cost.explored and observed is not None and observed >= 0.5:
            return model.draft(history, EXPLORING_LENGTH)
        made = model.draft(history, limit, go_on)
        length, _ = self._cost.best_length(probabilities(made.confidence), spent=len(made.tokens) * per_token)
        if length == 0 and made.tokens:
            length = 1  # it is there: the pass that tells what it is worth costs little more
        return dataclasses.replace(made, tokens=made.tokens[:length])

    def observe(self, outcome: Outcome) -> None:
        """Learn from a pass: what it cost is the pair's to learn, what the proposals were worth is learned here."""
        draft = outcome.draft
        self._since_model += 1
        self._since_wide = 0 if draft.tokens else self._since_wide + 1
        odds = self._model_odds if draft.drafter == "draft" else self._lookup_odds
        for place, confidence in zip(range(len(draft.tokens)), draft.confidence, strict=False):
            if place > outcome.accepted or (place == outcome.accepted and outcome.stopped):
                break
            odds.observe(confidence, place < outcome.accepted)
        if draft.drafter != "lookup" and self._found.tokens:
            self._lookup_odds.observe(self._found.confidence[0], self._found.tokens[0] == outcome.chosen[0])
        if draft.drafter == "draft":
            per_token = self._cost.draft_ratio or 0.0
            length, _ = self._cost.best_length_alike(self._model_odds.average, 8, per_token)
            self._model_probe = FIRST_MODEL_PROBE if length else min(LAST_MODEL_PROBE, self._model_probe * 2)
